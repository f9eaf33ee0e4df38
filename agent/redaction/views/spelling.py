"""Text that people write so that it is not found: spaced out, broken up, spelled out, run together, digits for letters.

Each function finds the places of a text that can be read so, and yields what they read. None of it is certain, so it is
read besides the plain text, never instead.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from agent.redaction.spans.span import Span
from agent.redaction.views.decoding import Substitution

_LETTER = r"[^\W\d_]"

# Letters and digits one by one: "J o h n", "J.o.h.n", "1 2 3 - 4 5 - 6 7 8 9".
_APART = re.compile(r"(?<![^\s(\"'\[])[^\W_][ \t]{1,3}(?:[\w@.()+#/:,'-][ \t]{1,3}){1,400}[^\W_](?![^\s.,;:!?)\"'\]])")
_JOINED_BY = re.compile(r"(?<![^\W_])[^\W_](?P<by>[._*/|~·•,:+=-]{1,2} ?|\n)[^\W_](?:(?P=by)[^\W_]){1,400}(?![^\W_])")
_IN_RINGS = re.compile(r"(?:\([^\W\d_]\)){3,40}")  # what signs such as U+249C are folded to
_LISTED = re.compile(r"\[?(?:(?P<by>[\"'])[^\"'\n](?P=by), ?){3,200}(?P<last>[\"'])[^\"'\n](?P=last)\]?")
_GAP_OF_WORDS = re.compile(r"[ \t]{1,6}|[ \t]?[/|.,;_][ \t]?")
_DIGITS_OF_SSN = 9  # nobody counts that far
_CODE = 7  # letters and digits one by one that are no scale
_SPELLED = 4  # letters one by one that are no abbreviation

# A sign, a tag of HTML or of Markdown in the middle of a word.
_TAGS = re.compile(r"<(?P<name>/?[a-zA-Z][\w-]{0,20})(?:\s[^<>]{0,200})?/?>|<!--[^<>]{0,200}-->|<!?>")
_COMMAND = re.compile(r"(?P<begin>\\[a-zA-Z]{2,20}\{)[^{}\\\n]{1,100}\}")
_BLOCKS = frozenset([
    "br", "p", "div", "td", "tr", "th", "li", "ul", "ol", "table", "hr", "h1", "h2", "h3", "h4", "h5", "h6",
    "tbody", "thead", "dd", "dt",
])  # fmt: skip
_SIGN_INSIDE = re.compile(
    rf"(?<={_LETTER})(?:(?P<sign>[*~`|^•·¦\\#+=]|[^\w\s\x00-\x7f])(?P=sign){{0,3}}|[()\[\]{{}}])(?={_LETTER})"
)
_SIGN_IN_NUMBER = re.compile(r"(?<=\d)(?:[`|•¦_]|[^\w\s\x00-\x7f×·±≤≥→÷°’–—‰]){1,4}(?=\d)")
_EMPHASIS = re.compile(r"(?<![*_~`])[*_~`]{1,3}(?=\w)|(?<=\w)[*_~`]{1,3}(?![\w*_~`])")
_PIECES = re.compile(
    r"(?<![\w.-])[A-Z][a-z]{1,5}(?:[._][a-z]{1,5}|(?P<by>[._/-])[a-z]{1,5}(?:(?P=by)[a-z]{1,5}){1,5})(?![\w-])"
)
_PREFIXES = frozenset([
    "anti", "bi", "co", "de", "ex", "extra", "hyper", "hypo", "inter", "intra", "low", "high", "mid", "mono",
    "multi", "non", "over", "peri", "per", "post", "pre", "pro", "re", "self", "semi", "sub", "super", "trans",
    "tri", "two", "three", "four", "un", "well", "long", "short", "full", "half", "one", "first", "second",
    "third", "end", "all", "beta", "alpha", "gamma", "follow", "check", "work", "up", "in", "on", "off", "and",
    "or", "his", "her", "he", "she", "yes", "no", "day", "year", "age", "go",
])  # fmt: skip

_TAG_INSIDE = re.compile(r"(?<=[^\W_])(?:\[(?:[A-Z_]{2,20}-\d{1,6}|WITHHELD: [a-z ]{2,40})\]){1,3}(?=[^\W_])")

# Lines broken inside what belongs together.
_BROKEN = re.compile(
    r"(?P<hyphened>(?<=[^\W\d_])-[ \t]{0,4}\r?\n[ \t]{0,8}(?=[a-z]))"
    r"|(?P<number>(?<=\d)(?:-[ \t]{0,4}\r?\n[ \t]{0,8}|[ \t]{0,4}\r?\n[ \t]{0,8}(?=-\d)"
    r"|(?<=[^\n]{40})\r?\n[ \t]{0,8})(?=[\d-]))"
    r"|(?P<word>(?:(?<=[A-Z][a-z]{2})|(?<=[A-Z][a-z]{3})|(?<=[A-Z][a-z]{4})|(?<=[A-Z][a-z]{5}))\r?\n(?=[a-z]{2,12}(?![A-Z\d])))"
    r"|(?P<names>(?<=[a-z])(?:[ \t]{0,3}\r?\n[ \t]{0,8}|\t|[ ]{2,4})(?=[A-Z][a-z]+(?![\w:]| ?:)))"
    r"|(?P<wide>(?<=\d) {2,4}(?=\d))"
)

# Two words with capitals before: a whole name, with nothing of it on the next line.
_NAMED_WHOLLY = re.compile(
    r"(?:(?<![\w.])(?!(?:Dr|Mr|Mrs|Ms|Patient|Name|Pt|Seen|By|For|The|And|Client|Mother|Father)\b)"
    r"[A-Z][a-z]+|\b[A-Z]\.) [A-Z][a-z'-]+$"
)

# Addresses and sites in words.
_DOT = re.compile(
    r"(?<=[\w)])(?:\s?[\[({<]\s?(?:dot|punto|\.)\s?[\])}>]\s?|\s(?:dot|DOT)\s|\spunto\s(?=com|org|net|edu|gov|es\b|info|health|co\b)|_dot_|-dot-)(?=[\w])"
)
_AT = re.compile(
    r"(?<=\w)(?:\s?[\[({<]\s?(?:at|AT|arroba|@|a)\s?[\])}>]\s?|_at_|-at-|\sarroba\s"
    r"|\s(?:at|AT)\s(?=[\w-]+(?:\s(?:dot|DOT|punto)\s|\s?[\[({]\s?(?:dot|\.)\s?[\])}]|\.(?:com|org|net|edu|gov|io|co|uk|es|de|fr|info|health|example)\b)))(?=[\w])"
)
_AT_IN_BRACKETS = re.compile(r"[\[({<_-] ?(?:at|a) ?[\])}>_-]")
_SLASHES = re.compile(r"(?i)\bh(?:tt|xx)ps?(?: ?colon ?slash ?slash ?|\[:\]//|(?<=xx[ps])://|(?<=xxps)://)")

# Numbers in words, digit by digit.
_DIGITS = {
    "zero": "0", "oh": "0", "nought": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "niner": "9", "cero": "0", "uno": "1", "dos": "2", "tres": "3",
    "cuatro": "4", "cinco": "5", "seis": "6", "siete": "7", "ocho": "8", "nueve": "9",
}  # fmt: skip
_TENS = dict(zip([
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
], "23456789", strict=True))  # fmt: skip
_TEENS = dict(
    zip(
        ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
        map(str, range(10, 20)),
        strict=True,
    )
)
_JOINTS = {"dash": "-", "hyphen": "-", "minus": "-", "dot": ".", "point": ".", "slash": "/", "guion": "-", "punto": "."}
_NUMBER_WORD = "|".join(sorted([*_DIGITS, *_TENS, *_TEENS, "double", "triple"], key=len, reverse=True))
_IN_WORDS = re.compile(
    rf"\b(?P<letters>(?:[b-hj-z][ ,-]{{1,2}}){{0,4}})(?:{_NUMBER_WORD}|\d)"
    rf"(?:[ ,-]{{1,3}}(?:{_NUMBER_WORD}|{'|'.join(_JOINTS)}|\d(?!\d))){{3,60}}\b"
)
_HAN_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_HAN_NUMBER = re.compile(r"[〇零一二三四五六七八九]{4,}")

_ALPHABET = [
    "alfa", "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor",
    "whiskey", "whisky", "xray", "x-ray", "yankee", "zulu",
]  # fmt: skip
_BY_ALPHABET = re.compile(rf"\b(?:{'|'.join(_ALPHABET)})(?:[ ,./-]{{1,3}}(?:{'|'.join(_ALPHABET)})){{2,60}}\b")
_AS_IN = re.compile(
    r"(?<![\w'])[a-z](?: as in | for | like )[a-z]+"
    r"(?:[,;.]? (?:and |then )?[a-z](?: as in | for | like )[a-z]+){2,60}\b"
)

# A word that says how what follows it is to be read.
_CUE = re.compile(
    r"\b(?:(?P<backwards>reversed?|backwards?|mirror(?:ed)?|right[- ]to[- ]left|al rev[eé]s|invertid[oa])"
    r"|(?P<atbash>atbash)|(?P<cipher>rot[- ]?13|caesar|cipher(?:ed)?|encrypted|encoded|obfuscated|scrambled))\b"
)
_AFTER_CUE = re.compile(
    r"(?:[ )]{0,3}(?:is|as|reads?|name|spelling|order|writing|text|it|id|mrn|patient|the|phone|number)\b){0,4}"
    r"[ )]{0,3}[:=\"'(\u005b>-][ \"'(]{0,3}"
    r"(?P<text>(?:[^\n.;()\"]|[.;](?=\S)){1,100})"
)
_BEFORE_CUE = re.compile(
    r"(?:^|[.:;,\"'(]\s?|\s)(?P<text>[^\n.;:()\"']{3,80}?)[\"']?[ ,]{0,2}[(\[]\s?"
    r"(?:(?:(?:written|spelled|read|typed|spelt|name|in|shown) ?){0,3})$"
)
_ATBASH = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"
)

# Words run together, and digits drawn for letters.
_RUN_TOGETHER = re.compile(
    r"(?P<camel>(?<=[a-z])(?<!\bMc)(?<!\bMac)(?<!\bDe)(?<!\bLa)(?<!\bLe)(?<!\bDi)(?<!\bVan)(?=[A-Z][a-z]{2}))"
    r"|(?P<snake>(?<=[^\W_])_{1,3}(?=[^\W_]))|(?P<plus>(?<=[^\W\d_])\+(?=[^\W\d_]))"
    r"|(?P<digits>(?<=[A-Z][a-z]{2})(?=\d{4})|(?<=\d{4})(?=[A-Z][a-z]{2}))"
)
_DOTTED = re.compile(r"(?<![\w@/.:-])[A-Za-z]{2,20}(?:\.[A-Za-z]{2,20}){1,4}(?![\w@/-])")
_ENDS_OF_SITES = frozenset([
    "com", "org", "net", "edu", "gov", "es", "uk", "de", "fr", "it", "pt", "io", "info", "health", "co", "mil",
    "int",
])  # fmt: skip
_LEET = re.compile(
    r"(?<![\w@$!.-])(?=[a-zA-Z]*[01345789@$!|])(?!\d{1,3}(?:st|nd|rd|th|\d|[a-z]{1,3})\b)[A-Za-z@$!|01345789]{3,30}(?![\w@$!]|\.\w)"
)
_LEET_LETTERS = str.maketrans("01345789@$!|", "oieastbgasil")
_LEET_ELSE = str.maketrans("01345789@$!|", "oleastbgasli")
_LEET_DIGITS = re.compile(
    r"(?<![\w.])(?=[OoIl|]{1,12}[\d/.-]|[\d/.-]{1,30}[OoQDIlZSB|])[\dOoQDIlZSB|]{1,12}(?:[-/.][\dOoQDIlZSB|]{1,12}){0,6}(?!\w)"
)
_DIGITS_DRAWN = str.maketrans("OoQDIl|ZSB", "0000111258")
_ACCENTED = re.compile("[A-Za-z\u00c0-\u024f]*[\u00c0-\u024f][A-Za-z\u00c0-\u024f]*")
_ACUTE = re.compile("[áéíóúÁÉÍÓÚ]")
_FOREIGN_ACCENT = re.compile("(?![áéíóúüñçÁÉÍÓÚÜÑÇ])[\u00c0-\u024f]")  # to Spanish, whose words have one acute
_UNEVEN_CHANGES = 5  # of capitals to small letters and back; "AntiHBs" has fewer
_UNEVEN = re.compile(
    r"(?<![^\W_])(?!Mc|Mac|(?:[A-Z][a-z]+){1,2}[A-Z]?\b)[A-Za-z]{0,20}(?:[a-z][A-Z]{1,9}[a-z]{1,9}[A-Z]|[A-Z][a-z]{1,9}[A-Z]{1,9}[a-z]|\b[a-z][A-Z]{4})[A-Za-z]{0,20}(?![^\W_])"
)


def written_apart(text: str) -> Iterator[Substitution | Span]:
    """Yield what stands between the letters of one word or the parts of one number."""
    yield from _apart(text)
    if "<" in text:
        for tag in _TAGS.finditer(text):
            block = (tag.group("name") or "").strip("/").lower() in _BLOCKS
            yield Substitution(*tag.span(), "\n" if block else "")
    if "\\" in text:
        for command in _COMMAND.finditer(text):
            yield Substitution(*command.span("begin"), "")
            yield Substitution(command.end() - 1, command.end(), "")
    for ringed in _IN_RINGS.finditer(text) if ")(" in text else ():
        for ring in range(ringed.start(), ringed.end(), 3):
            yield Substitution(ring, ring + 1, "")
            yield Substitution(ring + 2, ring + 3, "")
    for listed in _LISTED.finditer(text) if '","' in text or "', '" in text or '", "' in text or "','" in text else ():
        yield Substitution(*listed.span(), "".join(re.findall(r"[\"']([^\"'])[\"']", listed.group())))
    for pattern in (_SIGN_INSIDE, _SIGN_IN_NUMBER, _EMPHASIS):
        for match in pattern.finditer(text):
            yield Substitution(*match.span(), "")
    for match in _PIECES.finditer(text):
        if re.match("[A-Za-z]+", match.group()).group().lower() in _PREFIXES:  # type: ignore[union-attr]
            continue
        for place in re.finditer("[._/-]", match.group()):
            yield Substitution(match.start() + place.start(), match.start() + place.end(), "", crossing=True)


def parted_by_tags(text: str) -> Iterator[Substitution]:
    """Yield what looks like a tag between two letters or two digits: what it parts may belong together."""
    if "[" in text:
        for tag in _TAG_INSIDE.finditer(text):
            if text[tag.start() - 1].isdigit() == text[tag.end()].isdigit():
                yield Substitution(*tag.span(), "")


def _apart(text: str) -> Iterator[Substitution | Span]:
    words = list[tuple[int, int]]()
    for match in _APART.finditer(text):
        if _counted(match.group()):
            continue
        words.append(match.span())
        yield from _told(match)
        places = list(re.finditer(r"[ \t]+", match.group()))
        for gap in places:
            before, after = match.group()[gap.start() - 1], match.group()[gap.end()]
            new_word = gap.end() - gap.start() > 1 or (before.islower() and after.isupper())
            yield Substitution(match.start() + gap.start(), match.start() + gap.end(), " " if new_word else "")
    for match in _JOINED_BY.finditer(text):
        if _counted(match.group()) or (match.group("by") == "." and match.group().isupper() and len(match.group()) < 8):
            continue
        words.append(match.span())
        yield from _told(match)
        by = match.group("by")
        for place in range(1, len(match.group()), 1 + len(by)):
            yield Substitution(match.start() + place, match.start() + place + len(by), "")
    for (_, end), (start, _) in pairwise(sorted(words)):
        if end < start and _GAP_OF_WORDS.fullmatch(text, end, start):
            yield Substitution(end, start, " ")


def _told(match: re.Match[str]) -> Iterator[Span]:
    """Yield the whole as a name when it is a word spelled letter by letter, which no abbreviation is."""
    letters = [character for character in match.group() if character.isalpha()]
    if len(letters) >= _SPELLED and letters[0].isupper() and sum(map(str.islower, letters)) >= len(letters) / 2:
        yield Span(*match.span(), "NAME")


def _counted(text: str) -> bool:
    """Tell whether the letters or digits only count up, as answers and scales do, or are too few."""
    letters = "".join(filter(str.isalnum, text))
    characters = list(letters.lower())
    digits = sum(map(str.isdigit, letters))
    if digits < 5 and len(letters) - digits < 3 + (not letters.istitle()) and len(letters) < _CODE:
        return True
    if digits >= _DIGITS_OF_SSN:
        return False
    if digits == 1:  # "4. A. B. C."
        characters = list(filter(str.isalpha, characters))
    return all(0 <= ord(after) - ord(before) <= 1 for before, after in pairwise(characters))


def broken_lines(text: str) -> Iterator[Substitution]:
    """Yield line breaks and wide gaps inside of what can belong together."""
    if "\n" in text or "  " in text or "\t" in text:
        for match in _BROKEN.finditer(text):
            kind = match.lastgroup
            if kind == "names" and _NAMED_WHOLLY.search(text, max(0, match.start() - 40), match.start()):
                continue
            if kind == "number":
                yield Substitution(*match.span(), "-" if match.group().startswith("-") else "", crossing=True)
            else:
                yield Substitution(*match.span(), " " if kind in ("names", "wide") else "", crossing=True)


def in_words(text: str) -> Iterator[Substitution | Span]:
    """Yield addresses, numbers and letters that are written in words, and what a word before says how to read."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter that has no small form of one character
        lower = text
    if "dot" in lower or "punto" in lower or ".]" in text or ".)" in text or ".}" in text or "]." in text:
        for match in _DOT.finditer(text):
            yield Substitution(*match.span(), ".")
    if " at " in lower or "arroba" in lower or _AT_IN_BRACKETS.search(lower):
        for match in _AT.finditer(text):
            yield Substitution(*match.span(), "@")
    if "slash" in lower or "hxx" in lower or "[:]" in text:
        for match in _SLASHES.finditer(text):
            yield Substitution(*match.span(), "https://")
    for match in _IN_WORDS.finditer(lower):
        said = match.group("letters")
        before = "".join(filter(str.isalpha, said)).upper()
        if number := _number(match.group()[len(said) :], bool(before)):
            yield Substitution(*match.span(), before + number)
    if not text.isascii():
        for match in _HAN_NUMBER.finditer(text):
            yield Substitution(*match.span(), match.group().translate(_HAN_DIGITS))
    for match in _BY_ALPHABET.finditer(lower):
        letters = [word[0] for word in re.findall(r"[a-z][a-z-]*", match.group())]
        yield Substitution(*match.span(), "".join(letters).capitalize())
        if len(letters) >= _SPELLED:
            yield Span(*match.span(), "NAME")
    if " as in " in lower or " for " in lower or " like " in lower:
        for match in _AS_IN.finditer(lower):
            letters = re.findall(r"(?<![\w'])([a-z])(?= as in | for | like )", match.group())
            yield Substitution(*match.span(), "".join(letters).capitalize())
            yield Span(*match.span(), "NAME")
    yield from _by_cue(text, lower)


def _number(words: str, after_letters: bool) -> str:
    """Return the digits that are said one by one; nothing for what is rather a count ("one or two").

    Args:
        after_letters: whether letters said one by one come before: then it counts nothing.
    """
    digits, times, tens = "", 1, ""
    for word in re.findall(r"[a-z]+|\d", words.lower()):
        if word in ("double", "triple"):
            times = 2 if word == "double" else 3
        elif word in _TENS:
            digits, tens = digits + (tens + "0" if tens else ""), _TENS[word]
        elif word in _JOINTS:
            digits, tens = digits + (tens + "0" if tens else "") + _JOINTS[word], ""
        elif word in _TEENS:
            digits, tens = digits + (tens + "0" if tens else "") + _TEENS[word], ""
        else:
            digits, tens = digits + tens + (word if word.isdigit() else _DIGITS[word]) * times, ""
            times = 1
    digits += tens + "0" if tens else ""
    return digits if sum(map(str.isdigit, digits)) >= _SPELLED and (after_letters or not _counted(digits)) else ""


def _by_cue(text: str, lower: str) -> Iterator[Substitution]:
    for cue in _CUE.finditer(lower):
        for stretch in (
            _AFTER_CUE.match(text, cue.end()),
            _BEFORE_CUE.search(text, max(0, cue.start() - 80), cue.start()),
        ):
            if stretch is None:
                continue
            start, end = stretch.span("text")
            if end - start < _SPELLED:
                continue
            told = text[start:end]
            if cue.lastgroup == "backwards":
                yield Substitution(start, end, told[::-1], backwards=True)
            else:
                yield Substitution(
                    start, end, told.translate(_ATBASH) if cue.lastgroup == "atbash" else codecs.encode(told, "rot13")
                )


def run_together(text: str) -> Iterator[Substitution]:
    """Yield where words are run together ("JohnSmith", "john_smith")."""
    for match in _RUN_TOGETHER.finditer(text):
        follows = text[match.end()]
        yield Substitution(*match.span(), " ", crossing=match.lastgroup == "camel" or follows.islower())
    for match in _DOTTED.finditer(text):
        if match.group().rpartition(".")[2].lower() not in _ENDS_OF_SITES:
            for place, character in enumerate(match.group(), match.start()):
                if character == ".":
                    yield Substitution(place, place + 1, " ", crossing=True)


def drawn(text: str) -> Iterator[Substitution]:
    """Yield digits and signs that stand for letters, letters that stand for digits, capitals in the wrong places."""
    yield from _drawn(text, _LEET_LETTERS)
    if not text.isascii():
        for match in _ACCENTED.finditer(text):
            if len(_ACUTE.findall(match.group())) > 1 or _FOREIGN_ACCENT.search(match.group()):
                bare = "".join(unicodedata.normalize("NFD", character)[0] for character in match.group())
                yield Substitution(*match.span(), bare)
    for match in _LEET_DIGITS.finditer(text):
        word = match.group()
        if len(word) > 4 and sum(map(str.isdigit, word)) * 2 >= sum(map(str.isalnum, word)):
            yield Substitution(*match.span(), word.translate(_DIGITS_DRAWN))
    for match in _UNEVEN.finditer(text):
        word = match.group()
        changes = sum(one.isupper() != other.isupper() for one, other in pairwise(word))
        if len(word) >= _SPELLED and (changes >= min(len(word) - 1, _UNEVEN_CHANGES) or word[1:].isupper()):
            yield Substitution(*match.span(), word.capitalize())


def drawn_otherwise(text: str) -> Iterator[Substitution]:
    """Yield digits and signs that stand for letters, each for the other of two that it may stand for."""
    yield from _drawn(text, _LEET_ELSE)


def _drawn(text: str, letters: dict[int, int | None] | dict[int, str] | dict[int, int]) -> Iterator[Substitution]:
    for match in _LEET.finditer(text):
        word = match.group()
        trimmed = word.rstrip("!")
        letters_in = "".join(filter(str.isalpha, trimmed))
        one_case = letters_in[1:].islower() or letters_in.isupper()
        if len(trimmed) < _SPELLED or not one_case or trimmed.rstrip("0123456789").isalpha():  # "HbA1c", "COVID19"
            continue
        if letters_in.isupper() and "1" in trimmed and len(trimmed) == _SPELLED:  # "A1AT"
            continue
        if word[:2].isdigit() or len(letters_in) * 5 < len(trimmed) * (2 if letters_in[1:].islower() else 3):
            continue  # a measure, a code
        read = trimmed.replace("11", "ll").translate(letters)
        yield Substitution(
            match.start(), match.start() + len(trimmed), read.capitalize() if word[0] in "@$!|013457" else read
        )
