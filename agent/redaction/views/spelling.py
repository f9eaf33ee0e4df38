"""Undo disguises of spelling: text that is spaced out, broken up, spelled out, run together, or written with digits.

Each reader searches a text for one such disguise and yields substitutions that undo it. No substitution is certain, so
the result is analysed in addition to the plain text, never instead of it.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from agent.redaction.spans.span import Span
from agent.redaction.views.decoding import Substitution

# Most patterns below need one of these; a search for it is much faster than a search for the pattern.
_SIGN = re.compile(r"[*~`|^\\#+=()\[\]{}_]|[^\x00-\x7f]")
_JOINT_OF_PIECES = re.compile(r"[._/-]")
_DIGIT = re.compile(r"\d")
_CAPITAL_INSIDE = re.compile(r"[a-z][A-Z]")
_LETTER_BESIDE_DIGIT = re.compile(r"[a-z]\d|\d[A-Z]")
_DRAWN_LETTER = re.compile(r"[01345789@$!|]")

_LETTER = r"[^\W\d_]"

# Letters and digits written one by one: "J o h n", "J.o.h.n", "1 2 3 - 4 5 - 6 7 8 9".
_APART = re.compile(
    r"(?<![^\s(\"'\[])[^\W_][ \t]{1,3}(?:[\w@.()+#/:,'-][ \t]{1,3}){1,400}[^\W_](?![^\s.,;:!?)\"'\]])"
)
_JOINED_BY = re.compile(
    r"(?<![^\W_])[^\W_](?P<by>[._*/|~·•,:+=-]{1,2} ?|\n)[^\W_](?:(?P=by)[^\W_]){1,400}(?![^\W_])"
)
_IN_RINGS = re.compile(r"(?:\([^\W\d_]\)){3,40}")  # the folded form of signs such as U+249C
_LISTED = re.compile(
    r"\[?(?:(?P<by>[\"'])[^\"'\n](?P=by), ?){3,200}(?P<last>[\"'])[^\"'\n](?P=last)\]?"
)
_GAP_OF_WORDS = re.compile(r"[ \t]{1,6}|[ \t]?[/|.,;_][ \t]?")
_DIGITS_OF_SSN = 9  # a sequence of this many digits is not a count
_CODE = 7  # minimum letters and digits written one by one; scales have fewer
_SPELLED = 4  # minimum letters written one by one; abbreviations have fewer

# Tags of HTML and signs of Markdown within a word.
_TAGS = re.compile(
    r"<(?P<name>/?[a-zA-Z][\w-]{0,20})(?:\s[^<>]{0,200})?/?>|<!--[^<>]{0,200}-->|<!?>"
)
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

_TAG_INSIDE = re.compile(
    r"(?<=[^\W_])(?:\[(?:[A-Z_]{2,20}-\d{1,6}|WITHHELD: [a-z ]{2,40})\]){1,3}(?=[^\W_])"
)

# Line breaks within words, numbers and names.
_BROKEN = re.compile(
    r"(?P<hyphened>(?<=[^\W\d_])-[ \t]{0,4}\r?\n[ \t]{0,8}(?=[a-z]))"
    r"|(?P<number>(?<=\d)(?:-[ \t]{0,4}\r?\n[ \t]{0,8}|[ \t]{0,4}\r?\n[ \t]{0,8}(?=-\d)"
    r"|(?<=[^\n]{40})\r?\n[ \t]{0,8})(?=[\d-]))"
    r"|(?P<word>(?:(?<=[A-Z][a-z]{2})|(?<=[A-Z][a-z]{3})|(?<=[A-Z][a-z]{4})|(?<=[A-Z][a-z]{5}))\r?\n(?=[a-z]{2,12}(?![A-Z\d])))"
    r"|(?P<names>(?<=[a-z])(?:[ \t]{0,3}\r?\n[ \t]{0,8}|\t|[ ]{2,4})(?=[A-Z][a-z]+(?![\w:]| ?:)))"
    r"|(?P<wide>(?<=\d) {2,4}(?=\d))"
)

# Two capitalised words before the break: a complete name that does not continue on the next line.
_NAMED_WHOLLY = re.compile(
    r"(?:(?<![\w.])(?!(?:Dr|Mr|Mrs|Ms|Patient|Name|Pt|Seen|By|For|The|And|Client|Mother|Father)\b)"
    r"[A-Z][a-z]+|\b[A-Z]\.) [A-Z][a-z'-]+$"
)

# E-mail and web addresses written in words.
_DOT = re.compile(
    r"(?<=[\w)])(?:\s?[\[({<]\s?(?:dot|punto|\.)\s?[\])}>]\s?|\s(?:dot|DOT)\s|\spunto\s(?=com|org|net|edu|gov|es\b|info|health|co\b)|_dot_|-dot-)(?=[\w])"
)
_AT = re.compile(
    r"(?<=\w)(?:\s?[\[({<]\s?(?:at|AT|arroba|@|a)\s?[\])}>]\s?|_at_|-at-|\sarroba\s"
    r"|\s(?:at|AT)\s(?=[\w-]+(?:\s(?:dot|DOT|punto)\s|\s?[\[({]\s?(?:dot|\.)\s?[\])}]|\.(?:com|org|net|edu|gov|io|co|uk|es|de|fr|info|health|example)\b)))(?=[\w])"
)
_AT_IN_BRACKETS = re.compile(r"[\[({<_-] ?(?:at|a) ?[\])}>_-]")
_SLASHES = re.compile(
    r"(?i)\bh(?:tt|xx)ps?(?: ?colon ?slash ?slash ?|\[:\]//|(?<=xx[ps])://|(?<=xxps)://)"
)

# Numbers in words, spoken digit by digit.
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
        [
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        map(str, range(10, 20)),
        strict=True,
    )
)
_JOINTS = {
    "dash": "-",
    "hyphen": "-",
    "minus": "-",
    "dot": ".",
    "point": ".",
    "slash": "/",
    "guion": "-",
    "punto": ".",
}
_NUMBER_WORD = "|".join(
    sorted([*_DIGITS, *_TENS, *_TEENS, "double", "triple"], key=len, reverse=True)
)
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
_BY_ALPHABET = re.compile(
    rf"\b(?:{'|'.join(_ALPHABET)})(?:[ ,./-]{{1,3}}(?:{'|'.join(_ALPHABET)})){{2,60}}\b"
)
_AS_IN = re.compile(
    r"(?<![\w'])[a-z](?: as in | for | like )[a-z]+"
    r"(?:[,;.]? (?:and |then )?[a-z](?: as in | for | like )[a-z]+){2,60}\b"
)

# Words that describe how adjacent text is encoded.
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
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA",
)

# Words run together, and digits used as letters.
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
# Accents unknown in Spanish, whose words have at most one acute accent.
_FOREIGN_ACCENT = re.compile("(?![áéíóúüñçÁÉÍÓÚÜÑÇ])[\u00c0-\u024f]")
_UNEVEN_CHANGES = 5  # changes between upper and lower case; "AntiHBs" has fewer
_UNEVEN = re.compile(
    r"(?<![^\W_])(?!Mc|Mac|(?:[A-Z][a-z]+){1,2}[A-Z]?\b)[A-Za-z]{0,20}(?:[a-z][A-Z]{1,9}[a-z]{1,9}[A-Z]|[A-Z][a-z]{1,9}[A-Z]{1,9}[a-z]|\b[a-z][A-Z]{4})[A-Za-z]{0,20}(?![^\W_])"
)


def read_written_apart(text: str) -> Iterator[Substitution | Span]:
    """Yield substitutions that join the letters of one word or the parts of one number."""
    yield from _join_characters(text)
    yield from _drop_markup(text)
    yield from _drop_rings(text)
    yield from _join_lists(text)
    if _SIGN.search(text):
        for pattern in (_SIGN_INSIDE, _SIGN_IN_NUMBER, _EMPHASIS):
            for match in pattern.finditer(text):
                yield Substitution.for_match(match, "")
    if _JOINT_OF_PIECES.search(text):
        yield from _join_pieces(text)


def read_parted_by_tags(text: str) -> Iterator[Substitution]:
    """Yield substitutions that remove a tag between two letters or two digits, which may belong together."""
    if "[" not in text:
        return
    for tag in _TAG_INSIDE.finditer(text):
        if text[tag.start() - 1].isdigit() == text[tag.end()].isdigit():
            yield Substitution.for_match(tag, "")


def _join_characters(text: str) -> Iterator[Substitution | Span]:
    """Join letters and digits that are written one by one, and the words that such characters form side by side."""
    words: list[tuple[int, int]] = []
    for match in _APART.finditer(text):
        if _counts_up(match.group()):
            continue
        words.append(match.span())
        yield from _mark_spelled_name(match)
        yield from _close_gaps(match)
    for match in _JOINED_BY.finditer(text):
        if _counts_up(match.group()) or _is_abbreviation(match):
            continue
        words.append(match.span())
        yield from _mark_spelled_name(match)
        joint_length = len(match.group("by"))
        for joint in range(match.start() + 1, match.end(), 1 + joint_length):
            yield Substitution(joint, joint + joint_length, "")
    for (_, end), (start, _) in pairwise(sorted(words)):
        if end < start and _GAP_OF_WORDS.fullmatch(text, end, start):
            yield Substitution(end, start, " ")


def _close_gaps(match: re.Match[str]) -> Iterator[Substitution]:
    """Join characters separated by spaces; a wide gap, or a gap before a capital, separates two words."""
    characters = match.group()
    for gap in re.finditer(r"[ \t]+", characters):
        before, after = characters[gap.start() - 1], characters[gap.end()]
        is_new_word = len(gap.group()) > 1 or (before.islower() and after.isupper())
        yield Substitution(
            match.start() + gap.start(), match.start() + gap.end(), " " if is_new_word else ""
        )


def _is_abbreviation(match: re.Match[str]) -> bool:
    """Return whether capitals with full stops are too few to be a spelled-out name, as in "U.S.A."."""
    return match.group("by") == "." and match.group().isupper() and len(match.group()) < 8


def _mark_spelled_name(match: re.Match[str]) -> Iterator[Span]:
    """Yield the whole match as a name if it is a word spelled letter by letter rather than an abbreviation."""
    letters = [character for character in match.group() if character.isalpha()]
    is_name = len(letters) >= _SPELLED and letters[0].isupper()
    if is_name and sum(map(str.islower, letters)) >= len(letters) / 2:
        yield Span.for_match(match, "NAME")


def _counts_up(text: str) -> bool:
    """Return whether the characters are too few, or an ascending sequence as in answer options and scales."""
    letters = "".join(filter(str.isalnum, text))
    characters = list(letters.lower())
    digits = sum(map(str.isdigit, letters))
    fewest_letters = 3 if letters.istitle() else 4
    if digits < 5 and len(letters) - digits < fewest_letters and len(letters) < _CODE:
        return True
    if digits >= _DIGITS_OF_SSN:
        return False
    if digits == 1:  # "4. A. B. C."
        characters = list(filter(str.isalpha, characters))
    return all(0 <= ord(after) - ord(before) <= 1 for before, after in pairwise(characters))


def _drop_markup(text: str) -> Iterator[Substitution]:
    """Remove HTML tags and LaTeX commands; a tag that ends a block becomes a line break."""
    if "<" in text:
        for tag in _TAGS.finditer(text):
            name = (tag.group("name") or "").strip("/").lower()
            yield Substitution.for_match(tag, "\n" if name in _BLOCKS else "")
    if "\\" in text:
        for command in _COMMAND.finditer(text):
            yield Substitution.for_match(command, "", group="begin")
            yield Substitution(command.end() - 1, command.end(), "")


def _drop_rings(text: str) -> Iterator[Substitution]:
    """Remove the parentheses around single letters: "(J)(o)(h)(n)"."""
    if ")(" not in text:
        return
    for ringed in _IN_RINGS.finditer(text):
        for ring in range(ringed.start(), ringed.end(), 3):
            yield Substitution(ring, ring + 1, "")
            yield Substitution(ring + 2, ring + 3, "")


def _join_lists(text: str) -> Iterator[Substitution]:
    """Join the characters of a quoted list: ["J", "o", "h", "n"]."""
    if not any(separator in text for separator in ('","', "', '", '", "', "','")):
        return
    for listed in _LISTED.finditer(text):
        characters = re.findall(r"[\"']([^\"'])[\"']", listed.group())
        yield Substitution.for_match(listed, "".join(characters))


def _join_pieces(text: str) -> Iterator[Substitution]:
    """Join hyphenated syllables: "Hol-lo-way". Words with a common prefix are left unchanged: "Non-fasting"."""
    for match in _PIECES.finditer(text):
        prefix = re.match("[A-Za-z]+", match.group())
        if prefix is not None and prefix.group().lower() in _PREFIXES:
            continue
        for joint in re.finditer("[._/-]", match.group()):
            yield Substitution(
                match.start() + joint.start(), match.start() + joint.end(), "", crossing=True
            )


def read_broken_lines(text: str) -> Iterator[Substitution]:
    """Yield substitutions that remove line breaks and wide gaps within words, numbers and names."""
    if "\n" not in text and "  " not in text and "\t" not in text:
        return
    for match in _BROKEN.finditer(text):
        kind = match.lastgroup
        if kind == "names" and _NAMED_WHOLLY.search(
            text, max(0, match.start() - 40), match.start()
        ):
            continue
        plain = ""
        if kind == "number" and match.group().startswith("-"):
            plain = "-"
        elif kind in ("names", "wide"):
            plain = " "
        yield Substitution.for_match(match, plain, crossing=True)


def read_spelled_out(text: str) -> Iterator[Substitution | Span]:
    """Yield substitutions for addresses, numbers and letters in words, and for text described as encoded."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose lower-case form has several characters
        lower = text
    yield from _read_addresses(text, lower)
    yield from _read_numbers(text, lower)
    yield from _read_letters(lower)
    yield from _read_by_cue(text, lower)


def _read_addresses(text: str, lower: str) -> Iterator[Substitution]:
    """Replace the spelled-out signs of e-mail and web addresses: "anna dot kowalski at ward dot org"."""
    if (
        "dot" in lower
        or "punto" in lower
        or ".]" in text
        or ".)" in text
        or ".}" in text
        or "]." in text
    ):
        for match in _DOT.finditer(text):
            yield Substitution.for_match(match, ".")
    if " at " in lower or "arroba" in lower or _AT_IN_BRACKETS.search(lower):
        for match in _AT.finditer(text):
            yield Substitution.for_match(match, "@")
    if "slash" in lower or "hxx" in lower or "[:]" in text:
        for match in _SLASHES.finditer(text):
            yield Substitution.for_match(match, "https://")


def _read_numbers(text: str, lower: str) -> Iterator[Substitution]:
    """Replace numbers spoken digit by digit."""
    for match in _IN_WORDS.finditer(lower):
        letters = match.group("letters")
        prefix = "".join(filter(str.isalpha, letters)).upper()
        number = _read_digits(match.group()[len(letters) :], after_letters=bool(prefix))
        if number:
            yield Substitution.for_match(match, prefix + number)
    if not text.isascii():
        for match in _HAN_NUMBER.finditer(text):
            yield Substitution.for_match(match, match.group().translate(_HAN_DIGITS))


def _read_letters(lower: str) -> Iterator[Substitution | Span]:
    """Replace words spelled with an alphabet: "alfa november", "a as in apple"."""
    for match in _BY_ALPHABET.finditer(lower):
        letters = [word[0] for word in re.findall(r"[a-z][a-z-]*", match.group())]
        yield Substitution.for_match(match, "".join(letters).capitalize())
        if len(letters) >= _SPELLED:
            yield Span.for_match(match, "NAME")
    if " as in " in lower or " for " in lower or " like " in lower:
        for match in _AS_IN.finditer(lower):
            letters = re.findall(r"(?<![\w'])([a-z])(?= as in | for | like )", match.group())
            yield Substitution.for_match(match, "".join(letters).capitalize())
            yield Span.for_match(match, "NAME")


def _read_digits(words: str, *, after_letters: bool) -> str:
    """Return the digits spoken one by one, or "" if the words are a count ("one or two").

    Args:
        after_letters: whether letters spoken one by one precede; the digits are then not a count.
    """
    digits = ""
    tens = ""  # from a word such as "twenty", which the next word may complete
    repeats = 1
    for word in re.findall(r"[a-z]+|\d", words.lower()):
        if word in ("double", "triple"):
            repeats = 2 if word == "double" else 3
            continue
        if word.isdigit() or word in _DIGITS:
            digit = word if word.isdigit() else _DIGITS[word]
            digits += tens + digit * repeats
            tens = ""
            repeats = 1
            continue
        if tens:
            digits += tens + "0"
            tens = ""
        if word in _TENS:
            tens = _TENS[word]
        else:
            digits += _JOINTS[word] if word in _JOINTS else _TEENS[word]
    if tens:
        digits += tens + "0"
    is_number = sum(map(str.isdigit, digits)) >= _SPELLED and (
        after_letters or not _counts_up(digits)
    )
    return digits if is_number else ""


def _read_by_cue(text: str, lower: str) -> Iterator[Substitution]:
    """Decode text that an adjacent word describes as reversed or enciphered."""
    for cue in _CUE.finditer(lower):
        after = _AFTER_CUE.match(text, cue.end())
        before = _BEFORE_CUE.search(text, max(0, cue.start() - 80), cue.start())
        for stretch in (after, before):
            if stretch is None or len(stretch.group("text")) < _SPELLED:
                continue
            written = stretch.group("text")
            if cue.lastgroup == "backwards":
                start, end = stretch.span("text")
                yield Substitution(start, end, written[::-1], backwards=True)
            elif cue.lastgroup == "atbash":
                yield Substitution.for_match(stretch, written.translate(_ATBASH), group="text")
            else:  # ROT13 is the only cipher that people use in notes
                yield Substitution.for_match(stretch, codecs.encode(written, "rot13"), group="text")


def read_run_together(text: str) -> Iterator[Substitution]:
    """Yield substitutions that insert a space between words that are run together ("JohnSmith", "john_smith")."""
    if (
        _CAPITAL_INSIDE.search(text)
        or "_" in text
        or "+" in text
        or _LETTER_BESIDE_DIGIT.search(text)
    ):
        for match in _RUN_TOGETHER.finditer(text):
            crossing = match.lastgroup == "camel" or text[match.end()].islower()
            yield Substitution.for_match(match, " ", crossing=crossing)
    if "." in text:
        yield from _part_dotted(text)


def _part_dotted(text: str) -> Iterator[Substitution]:
    """Insert a space between words joined by full stops ("john.smith"), except in the names of sites."""
    for match in _DOTTED.finditer(text):
        if match.group().rpartition(".")[2].lower() in _ENDS_OF_SITES:
            continue
        for position, character in enumerate(match.group(), match.start()):
            if character == ".":
                yield Substitution(position, position + 1, " ", crossing=True)


def read_drawn(text: str) -> Iterator[Substitution]:
    """Yield substitutions for digits and signs used as letters, letters used as digits, and irregular capitals."""
    yield from _read_leet(text, _LEET_LETTERS)
    if not text.isascii():
        yield from _drop_accents(text)
    has_digit = "|" in text or _DIGIT.search(text)
    for match in _LEET_DIGITS.finditer(text) if has_digit else ():
        word = match.group()
        if len(word) > 4 and sum(map(str.isdigit, word)) * 2 >= sum(map(str.isalnum, word)):
            yield Substitution.for_match(match, word.translate(_DIGITS_DRAWN))
    for match in _UNEVEN.finditer(text) if _CAPITAL_INSIDE.search(text) else ():
        word = match.group()
        changes = sum(before.isupper() != after.isupper() for before, after in pairwise(word))
        is_uneven = changes >= min(len(word) - 1, _UNEVEN_CHANGES) or word[1:].isupper()
        if len(word) >= _SPELLED and is_uneven:
            yield Substitution.for_match(match, word.capitalize())


def read_drawn_otherwise(text: str) -> Iterator[Substitution]:
    """Yield the alternative substitutions of digits and signs that may represent either of two letters."""
    yield from _read_leet(text, _LEET_ELSE)


def _drop_accents(text: str) -> Iterator[Substitution]:
    """Remove the accents of words that are not Spanish."""
    for match in _ACCENTED.finditer(text):
        word = match.group()
        if len(_ACUTE.findall(word)) > 1 or _FOREIGN_ACCENT.search(word):
            letters = [unicodedata.normalize("NFD", character)[0] for character in word]
            yield Substitution.for_match(match, "".join(letters))


def _read_leet(text: str, letters: dict[int, int]) -> Iterator[Substitution]:
    """Replace digits and signs with letters, by a `str.translate` table."""
    for match in _LEET.finditer(text) if _DRAWN_LETTER.search(text) else ():
        word = match.group().rstrip("!")
        if not _may_be_leet(word):
            continue
        reading = word.replace("11", "ll").translate(letters)
        if word[0] in "@$!|013457":
            reading = reading.capitalize()
        yield Substitution(match.start(), match.start() + len(word), reading)


def _may_be_leet(word: str) -> bool:
    """Return whether a word with digits or signs may be a disguised name, not a measure, code or abbreviation."""
    letters = "".join(filter(str.isalpha, word))
    has_one_case = letters[1:].islower() or letters.isupper()
    # The last two conditions exclude "HbA1c" and "COVID19".
    if len(word) < _SPELLED or not has_one_case or word.rstrip("0123456789").isalpha():
        return False
    if letters.isupper() and "1" in word and len(word) == _SPELLED:  # "A1AT"
        return False
    # Measures and codes begin with digits, or have few letters: under two fifths, under three fifths in capitals.
    fewest_fifths = 2 if letters[1:].islower() else 3
    return not word[:2].isdigit() and len(letters) * 5 >= len(word) * fewest_fifths
