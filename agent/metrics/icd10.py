"""Find the ICD-10 codes in a text: diagnoses (ICD-10-CM) and procedures (ICD-10-PCS). Pure.

A diagnosis is a letter, a digit, a digit or A or B, and up to four letters or digits after a point: I10, E11.9,
S72.001A, M1A.0110, C7B.00, W19.XXXA. A procedure has seven letters or digits, excluding I and O: 0DJ08ZZ. Codes are
compared without the point and in capitals, so "s72001a" equals "S72.001A".

A code with a point counts anywhere. Without the point, it could also be a word (vitamin B12, T4, L5, protein S100), so
it counts only

- where a code is expected: at the start of a line (after a bullet, number or bracket, or in a table cell), or after
  "code", "codes", "ICD-10", a colon, an equals sign, an arrow, a dash or an opening bracket, up to a
  punctuation mark or the end of the line; or in a sequence with another code that counts ("I10, E119 and N186",
  "J18.9 and I10"); or
- at the same position as in neighbouring list items: short items between commas, semicolons or numbers, of which
  several begin with a code ("E11.9 (DM); I10 (HTN)", "1. S72.001A 2. I10"), or all end with a code and at least one
  code has a point ("Hypertension I10, diabetes E11.9");
- and, for a diagnosis, if its first three characters are a category of ICD-10-CM: B12 and T12 do not exist.

Statements about a code are ignored: "no J18.9" and "J18.9: denied" both name J18.9, as in HELM.
"""

import re

from agent.reading.words import ASCII_MARKS

_MAX_LENGTH = 100_000  # characters; a longer answer is an endless repetition

# ICD-10-CM, release of April 2026, National Center for Health Statistics (public domain): the assigned categories.
_ASSIGNED = """
A 00-09 15 17-28 30-44 46 48-60 63-71 74-75 77-96 98-99
B 00-10 15-20 25-27 30 33-60 64-83 85-92 94-97 99
C 00-26 30-34 37-41 43-58 60-86 88 90-96 4A 7A 7B
D 00-07 09-53 55-78 80-84 86 89 3A
E 00-11 13 15-16 20-32 34-36 40-46 50-56 58-61 63-68 70-80 83-89
F 01-07 09-25 28-34 39-45 48 50-55 59-60 63-66 68-73 78-82 84 88-91 93-95 98-99
G 00-14 20-21 23-26 30-32 35-37 40 43-47 50-65 70-73 80-83 89-99
H 00-02 04-05 10-11 15-18 20-22 25-28 30-36 40 42-44 46-47 49-55 57 59-62 65-75 80-83 90-95
I 00-02 05-13 15-16 20-28 30-52 60-63 65-83 85-89 95-97 99 1A 5A
J 00-06 09-18 20-22 30-45 47 60-70 80-82 84-86 90-96 98-99 4A
K 00-06 08-09 11-14 20-23 25-31 35-38 40-46 50-52 55-68 70-77 80-83 85-87 90-92 94-95
L 00-05 08 10-14 20-30 40-45 49-60 62-68 70-76 80-95 97-99
M 00-02 04-08 10-27 30-36 40-43 45-51 53-54 60-63 65-67 70-72 75-77 79-81 83-97 99 1A
N 00-08 10-23 25-37 39-53 60-65 70-77 80-99
O 00-04 07-16 20-26 28-36 40-48 60-77 80 82 85-92 94 98-99 9A
P 00-05 07-15 19 22-29 35-39 50-61 70-72 74 76-78 80-81 83-84 90-96
Q 00-07 10-18 20-28 30-45 50-56 60-87 89-93 95-99
R 00-01 03-07 09-23 25-27 29-37 39-65 68-71 73-94 97 99
S 00-17 19-99
T 07 14-28 30-34 36-71 73-76 78-88
U 00 07 09
V 00-06 09-99
W 00-01 03-40 42 44-46 49-62 64-65 67 69 73-74 85-86 88-90 92-94 99
X 00-06 08 10-19 30-32 34-39 50 52 58 71-83 92-99
Y 00-04 07-09 21-33 35-38 62-66 69-84 90 92-93 95 99
Z 00-05 08-09 11-23 28-34 36-49 51-53 55-60 62-99 3A
"""


def _read_categories() -> frozenset[str]:
    categories: set[str] = set()
    for line in _ASSIGNED.strip().splitlines():
        letter, *parts = line.split()
        for part in parts:
            first, is_range, last = part.partition("-")
            if not is_range:
                categories.add(letter + first)
                continue
            for number in range(int(first), int(last) + 1):
                categories.add(f"{letter}{number:02}")
    return frozenset(categories)


CATEGORIES = _read_categories()
"""The three-character categories of ICD-10-CM."""

# In lower case, the part after the point begins with a digit or is a placeholder: "b12.com" is not a code.
_DOTTED = (
    r"(?:[A-Z]\d[0-9AB]\.[0-9A-Z]{1,4}|[a-z]\d[0-9ab]\.(?:\d[0-9a-z]{0,3}"
    r"|x{1,3}\d?[a-z]|[a-d]\d{1,2}))(?!\w|\.\w)"
)
_DIAGNOSIS = r"[A-Za-z]\d[0-9ABab][0-9A-Za-z]{0,4}"
_PROCEDURE = r"(?=[A-Za-z]{0,6}\d)(?=\d{0,6}[A-Za-z])[0-9A-HJ-NP-Za-hj-np-z]{7}"
_ANY = rf"(?<![\w.])(?:{_DOTTED}|(?:{_PROCEDURE}|{_DIAGNOSIS})(?!\w|\.\w))"
_CODE = re.compile(_ANY)
# Codes separated only by marks, brackets and "and" are accepted or rejected together.
_ROW = re.compile(
    rf"{_ANY}(?:\.?[\s()]{{0,3}}(?:[,;/&+]|and\b|or\b)?[\s()]{{0,3}}{_ANY}){{0,1000}}",
    re.IGNORECASE,
)
_LINE_START = re.compile(r"\s*(?:[-+•]\s?|#?\d{1,3}[.):]\s?|\(?\d{1,3}\)\s?)?\(?\s?$")
_CUE = re.compile(
    r"(?:[:=>(]|\s-|\b(?:icd-?\s?(?:10)?(?:-?(?:cm|pcs|10))*|codes?|coded(?:\sas)?)(?:\s(?:is|are|include|as))?)\s{0,3}$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\.?\s*(?:$|[.:;=()>]|-\s)")
# Where one item of a list ends and the next begins; commas within brackets are part of an item.
_BETWEEN = re.compile(r"[,;](?![^()]{0,200}\))|\s(?=\(?\d{1,2}[.)]\s)")
_ITEM_START = re.compile(r"\s*(?:and\s|\(?\d{1,2}[.)]\s)?\s*\(?")
_MAX_WORDS = 8  # per item; longer items are prose
_GOLD = re.compile(r"[0-9A-Za-z.]*[0-9A-Za-z]")


def normalise_code(code: str) -> str:
    """Return a code without its point, in capitals."""
    return code.replace(".", "").upper()


def read_listed_codes(text: str) -> frozenset[str]:
    """Return the codes of a text that is a list of codes, such as a dataset's column; each in the standard form."""
    return frozenset(normalise_code(code) for code in _GOLD.findall(text))


def find_named_codes(text: str) -> frozenset[str]:
    """Return the codes that an answer names, each in the standard form."""
    named: set[str] = set()
    for line in _split_lines(text[:_MAX_LENGTH]):
        for row in _ROW.finditer(line):
            named.update(_find_codes_of_row(line, row))
        named.update(_find_codes_of_items(line))
    return frozenset(normalise_code(code) for code in named)


def _find_codes_of_row(line: str, row: re.Match[str]) -> list[str]:
    """Return the codes of a sequence that count: with a point, next to one with a point, or in an expected position."""
    codes = [code[0] for code in _CODE.finditer(row[0])]
    has_point = any("." in code for code in codes)
    is_expected = has_point or _is_expected(line, row.start(), row.end())
    return [code for code in codes if "." in code or (is_expected and _is_assigned(code))]


def _split_lines(text: str) -> list[str]:
    """Return a text without markup, split where a code may begin a line: lines, table cells, JSON values."""
    text = text.translate(ASCII_MARKS)
    text = re.sub(r'[|\t]|,\s{0,20}(?=["\'{])', "\n", text)
    return re.sub(r"[*`_#\"'\[\]{}]", " ", text).splitlines()


def _is_expected(line: str, start: int, end: int) -> bool:
    before = line[max(0, start - 60) : start]
    if (start <= 60) and _LINE_START.fullmatch(before):
        return re.match(r"-\w", line[end : end + 2]) is None
    return _CUE.search(before) is not None and _ENDS.match(line, end) is not None


def _find_codes_of_items(line: str) -> list[str]:
    """Return the codes that begin two or more items of a line, or that end all of them.

    At least one of the codes that end items must have its point: "BRAF V600E, parvovirus B19" are not codes.
    """
    if not _BETWEEN.search(line):
        return []
    items = [item for item in _BETWEEN.split(line) if item.strip(" .)")]
    heads: list[str] = []
    tails: list[str] = []
    for item in items:
        codes = [code for code in _CODE.finditer(item) if "." in code[0] or _is_assigned(code[0])]
        if not codes or len(item.split()) > _MAX_WORDS:
            continue
        first, last = codes[0], codes[-1]
        start = _ITEM_START.match(item)
        if start and first.start() == start.end():
            heads.append(first[0])
        elif not item[last.end() :].strip(" .)"):
            tails.append(last[0])
    named: list[str] = []
    if len(heads) > 1:
        named += heads
    all_items_end_with_code = len(tails) == len(items)
    if all_items_end_with_code and any("." in code for code in tails):
        named += tails
    return named


def _is_assigned(code: str) -> bool:
    """Return whether a code has the form of a procedure, or of a diagnosis in a category of ICD-10-CM."""
    code = normalise_code(code)
    if re.fullmatch(r"[A-Z]\d[0-9AB][0-9A-Z]{0,4}", code) and code[:3] in CATEGORIES:
        return True
    return re.fullmatch(r"[0-9BCDFGHX][0-9A-HJ-NP-Z]{6}", code) is not None
