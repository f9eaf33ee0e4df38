"""Decode text encoded as escapes of JSON, URLs, HTML or mail, or as base64, hexadecimal, Morse code and the like.

Each reader searches a text for such encodings and yields substitutions with the decoded text. Readers decode only one
layer: `agent.redaction.views.views` runs the readers on the decoded text again.
"""

import base64
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from agent.redaction.spans.span import Span


@dataclass(frozen=True, slots=True)
class Substitution:
    """A stretch of a text and the text to read in its place.

    Attributes:
        plain: the text that replaces `text[start:end]`; may be empty.
        crossing: whether a detection counts only if it extends beyond this stretch on both sides. Otherwise touching
            the stretch is enough.
        backwards: whether `plain` contains the characters of the stretch in reverse order.
    """

    start: int
    end: int
    plain: str
    crossing: bool = False
    backwards: bool = False

    @classmethod
    def for_match(
        cls, match: re.Match[str], plain: str, *, group: int | str = 0, crossing: bool = False
    ) -> "Substitution":
        """Return the substitution that replaces a match of a pattern, or one group of it, with `plain`."""
        return cls(match.start(group), match.end(group), plain, crossing)


_HEX = "[0-9a-fA-F]"
_JSON = re.compile(
    rf"(?<!\\)(?:(?:\\{{1,4096}}u{_HEX}{{4}})+|\\{{1,4096}}u\{{{_HEX}{{1,6}}\}}|\\{{1,4096}}U{_HEX}{{8}}"
    rf"|(?:\\{{1,4096}}x{_HEX}{{2}})+|(?:\\{{1,4096}}[0-3][0-7]{{2}})+|\\{{1,4096}}['/])"
)
_JSON_UNITS = re.compile(rf"u({_HEX}{{4}})|x({_HEX}{{2}})|([0-3][0-7]{{2}})")
_CODE_POINTS = re.compile(rf"(?:[Uu]\+{_HEX}{{4,5}}[ ,;]{{0,2}}){{2,}}")
_URL = re.compile(rf"(?:%(?:25){{0,4}}{_HEX}{{2}})+")
_HTML = re.compile(
    rf"&(?:amp;){{0,4}}(?:#\d{{1,7}};?|#[xX]{_HEX}{{1,6}};?|[A-Za-z]{{2,31}}\d{{0,2}};)"
)
_URL_UNITS = re.compile(rf"(?:%u{_HEX}{{4}})+")
_NAMED = re.compile(r"\\{1,8}N\{([A-Z][A-Z0-9 -]{1,60})\}")
_QUOTED = re.compile(r"=\r?\n|(?:=[0-9A-F]{2})+")

# Lower-case letters, and capitals or digits after the first letter: excludes prose but hardly any base64.
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_=-])(?=[A-Za-z][a-z]*[A-Z0-9+/]|[0-9+/])(?=[A-Z0-9+/]*[a-z])"
    r"[A-Za-z0-9+/_-]{6,}={0,2}(?![A-Za-z0-9+/_])"
)
# All base64 has one of these; a search for it is much faster than a search for base64.
_LIKE_BASE64 = re.compile(r"[A-Za-z0-9+/][A-Z]|[0-9+/]|\n")
_DIGIT = re.compile(r"\d")
_WRAPPED = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}(?:\r?\n[A-Za-z0-9+/]{2,})+={0,2}")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])(?=[A-Z]*[2-7=])[A-Z2-7]{7,}={0,6}(?![A-Za-z0-9=])")
_HEX_BYTES = re.compile(
    rf"(?<![0-9A-Za-z])(?:(?:0x)?(?:{_HEX}{{2}}){{4,}}|(?:(?:0x)?{_HEX}{{2}}[ :,;.-]{{1,2}}){{3,}}(?:0x)?{_HEX}{{2}})"
    r"(?![0-9A-Za-z])"
)
_BITS = re.compile(r"(?<![0-9])(?:[01]{8}[ ,.;/-]?){3,}(?![0-9])")
_DECIMAL = re.compile(r"(?<![\d.])(?:\d{2,3}(?:, ?| |; ?|-)){3,}\d{2,3}(?![\d.])")
_DECIMAL_SLASHED = re.compile(r"(?<![\d./])(?:\d{2,3}[/.]){5,}\d{2,3}(?![\d./])")
_IN_GROUPS = re.compile(r"(?<![\w+/=])(?:[A-Za-z0-9+/]{4} ){3,}[A-Za-z0-9+/]{2,4}={0,2}(?![\w+/=])")
# Fewer words than this before and after the groups may be prose; more groups than this must remain between them.
_WORDS_BESIDE = 3
# Names in the Western European character set (Latin-1). Random bytes hardly ever look like this.
_NAMES_OF_THE_WEST = re.compile(
    "[A-Z\xc0-\xd6\xd8-\xde][a-z\xdf-\xf6\xf8-\xff]{1,20}"
    "(?:[ ,.'-]{1,2}[A-Z\xc0-\xde]?[a-z\xdf-\xf6\xf8-\xff]{0,20}){0,6}"
)
_BRAILLE = re.compile("[\u2801-\u28ff]{2,}")
_CELLS = dict(
    zip(
        "\u2801\u2803\u2809\u2819\u2811\u280b\u281b\u2813\u280a\u281a\u2805\u2807\u280d\u281d\u2815\u280f\u281f\u2817"
        "\u280e\u281e\u2825\u2827\u283a\u282d\u283d\u2835",
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)
_MORSE = re.compile(r"(?<![.-])(?:[.-]{1,5}(?: {1,3}| ?[/|] ?)){3,}[.-]{1,5}(?![.-])")
_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE_LETTERS = dict(
    zip(_MORSE_CODES.split(), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", strict=True)
)
_CERTAIN_LETTERS = 4  # minimum letters of decoded text; fewer may appear by chance
_OPAQUE = 32  # minimum characters of undecodable data to redact, because it may contain a name


def read_escapes(text: str) -> Iterator[Substitution]:
    """Yield substitutions for the escapes of JSON, URLs, HTML and quoted-printable mail."""
    if "\\" in text:
        yield from _read_backslashes(text)
    if "%" in text:
        yield from _read_percents(text)
    if "&" in text:
        yield from _read_html(text)
    if "=" in text:
        yield from _read_quoted_printable(text)
    if "+" in text:
        for match in _CODE_POINTS.finditer(text):
            codes = re.findall(r"\+(\w+)", match.group())
            yield Substitution.for_match(match, "".join(map(_read_code_point, codes)))


def _read_backslashes(text: str) -> Iterator[Substitution]:
    for match in _JSON.finditer(text):
        yield from _read_json(match)
    for match in _NAMED.finditer(text):
        with suppress(KeyError):  # Unicode has no character with this name
            yield Substitution.for_match(match, _keep_printable(unicodedata.lookup(match.group(1))))


def _read_json(match: re.Match[str]) -> Iterator[Substitution]:
    escaped = match.group().lstrip("\\")
    if escaped in ("'", "/"):
        yield Substitution.for_match(match, escaped)
        return
    if escaped[:2] == "u{" or escaped[0] == "U":
        yield Substitution.for_match(match, _read_code_point(escaped.strip("uU{}")))
        return
    units = [unit.group(unit.lastindex or 0) for unit in _JSON_UNITS.finditer(match.group())]
    if escaped[0] == "u":
        raw = b"".join(int(unit, 16).to_bytes(2, "big") for unit in units)
        yield from _substitute_units(match, raw.decode("utf-16-be", "ignore"), len(units))
    else:
        base = 16 if escaped[0] == "x" else 8
        yield from _substitute_bytes(match, bytes(int(unit, base) for unit in units), len(units))


def _read_percents(text: str) -> Iterator[Substitution]:
    for match in _URL_UNITS.finditer(text):
        units = re.findall(rf"%u({_HEX}{{4}})", match.group())
        raw = bytes.fromhex("".join(units))
        yield from _substitute_units(match, raw.decode("utf-16-be", "ignore"), len(units))
    for match in _URL.finditer(text):
        codes = re.findall(rf"{_HEX}{{2}}(?=%|$)", match.group())
        yield from _substitute_bytes(match, bytes.fromhex("".join(codes)), len(codes))


def _read_html(text: str) -> Iterator[Substitution]:
    for match in _HTML.finditer(text):
        entity = match.group()
        character = html.unescape("&" + entity[1:].replace("amp;", ""))
        if not character.startswith("&") or entity.startswith("&amp;"):
            yield Substitution.for_match(match, _keep_printable(character) or " ")


def _read_quoted_printable(text: str) -> Iterator[Substitution]:
    for match in _QUOTED.finditer(text):
        if match.group().endswith("\n"):
            yield Substitution.for_match(match, "")
            continue
        codes = match.group().split("=")[1:]
        # A single code may be a formula ("T=37"), unless a letter follows.
        if len(codes) > 1 or text[match.end() : match.end() + 1].isalpha():
            yield from _substitute_bytes(match, bytes.fromhex("".join(codes)), len(codes))


def _substitute_bytes(match: re.Match[str], raw: bytes, units: int) -> Iterator[Substitution]:
    try:
        reading = raw.decode()
    except UnicodeDecodeError:
        reading = raw.decode("latin-1")
    yield from _substitute_units(match, reading, units)


def _substitute_units(match: re.Match[str], reading: str, units: int) -> Iterator[Substitution]:
    """Yield one substitution per escape if each stands for one character; otherwise one substitution for all."""
    if _keep_printable(reading) != reading:
        return
    start, end = match.span()
    if len(reading) == units and (end - start) % units == 0:
        width = (end - start) // units
        for index, character in enumerate(reading):
            yield Substitution(start + index * width, start + (index + 1) * width, character)
    elif reading:
        yield Substitution(start, end, reading)


def _read_code_point(code: str) -> str:
    """Return the character of a hexadecimal code point, or "" if it is invalid or not printable."""
    number = int(code, 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        return ""
    return _keep_printable(chr(number))


def _keep_printable(text: str) -> str:
    return "".join(
        [character for character in text if character.isprintable() or character in "\t\n"]
    )


def read_encoded(text: str) -> Iterator[Substitution | Span]:
    """Yield substitutions for encoded words, and spans for words that are redacted because they hide text."""
    yield from _read_base64(text)
    if not text.isascii():
        for match in _BRAILLE.finditer(text):
            letters = [_CELLS.get(cell, " ") for cell in match.group()]
            yield from _reveal(match, "".join(letters).capitalize())
    for pattern, needed, decode in _DECODERS:
        for match in pattern.finditer(text) if needed.search(text) else ():
            word = match.group()
            reading = decode(word)
            if reading:
                yield from _reveal(match, reading)
            elif pattern is _HEX_BYTES and len(word) >= _OPAQUE and " " not in word:
                yield Span.for_match(match, "ID")
    if _DIGIT.search(text):
        yield from _read_decimals(text)


def _read_decimals(text: str) -> Iterator[Substitution]:
    """Decode characters written as their decimal codes: "74 111 104 110"."""
    for match in _DECIMAL.finditer(text):
        reading = _decode_decimal(match.group())
        if reading:
            yield Substitution.for_match(match, reading)
    for match in _DECIMAL_SLASHED.finditer(text):
        reading = _decode_decimal(match.group())
        if reading:
            yield Substitution.for_match(match, reading.capitalize())


def _read_base64(text: str) -> Iterator[Substitution | Span]:
    """Decode base64 that spans several lines, then in single words, then in groups of four characters."""
    if not _LIKE_BASE64.search(text):
        return
    wrapped_end = 0
    for match in _WRAPPED.finditer(text):
        reading = _decode_base64("".join(match.group().split()))
        if reading:
            yield from _reveal(match, reading)
            wrapped_end = match.end()
    for match in _BASE64.finditer(text, wrapped_end):
        word = match.group()
        reading = _decode_base64(word)
        if reading:
            yield from _reveal(match, reading)
        elif len(word) >= _OPAQUE and _is_scrambled(word):
            yield Span.for_match(match, "ID")
    for match in _IN_GROUPS.finditer(text):
        yield from _read_groups(match)


def _read_groups(match: re.Match[str]) -> Iterator[Substitution | Span]:
    """Decode base64 in groups of four characters, excluding ordinary four-letter words before and after it."""
    groups = match.group().split()
    if not any(_has_digit_or_late_capital(group) for group in groups):
        return
    for before in range(min(_WORDS_BESIDE, len(groups) - _WORDS_BESIDE)):
        for after in range(min(_WORDS_BESIDE, len(groups) - before - _WORDS_BESIDE)):
            encoded = groups[before : len(groups) - after]
            reading = _decode_base64("".join(encoded))
            if reading:
                start = match.start() + sum(len(group) + 1 for group in groups[:before])
                end = start + len(" ".join(encoded))
                yield Substitution(start, end, reading)
                yield Span(start, end, "ID")
                return


def _has_digit_or_late_capital(group: str) -> bool:
    return any(map(str.isupper, group[1:])) or any(map(str.isdigit, group))


def _reveal(match: re.Match[str], reading: str) -> Iterator[Substitution | Span]:
    """Yield the decoded text of an encoded word, and also the word as an identifier if it was certainly encoded."""
    yield Substitution.for_match(match, reading)
    if sum(map(str.isalnum, reading)) >= _CERTAIN_LETTERS:
        yield Span.for_match(match, "ID")


def _is_scrambled(word: str) -> bool:
    """Return whether a word is encoded data, not a long name, because its kinds of characters alternate constantly."""
    kinds = [_find_kind(character) for character in word]
    changes = sum(kind != following for kind, following in pairwise(kinds))
    return "d" in kinds and changes * 3 > len(word)


def _find_kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isupper():
        return "u"
    return "l" if character.islower() else ""


def _decode_base64(word: str) -> str:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) % 4 == 1:
        return ""
    try:
        return _read_bytes(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except ValueError:
        return ""


def _decode_base32(word: str) -> str:
    plain = word.rstrip("=")
    try:
        return _read_bytes(base64.b32decode(plain + "=" * (-len(plain) % 8)))
    except ValueError:
        return ""


def _decode_hex(word: str) -> str:
    digits = word.replace("0x", "")
    codes = re.findall(rf"{_HEX}{{2}}", digits)
    reading = _read_bytes(bytes.fromhex("".join(codes)))
    if re.search("[a-fA-F]", digits):
        return reading
    # Digits alone may be a chart number, so they are decoded only if the result is a long word or a number.
    is_word = reading.replace(" ", "").isalpha()
    is_number = " " in word and reading.isdigit()
    return reading if len(reading) > _CERTAIN_LETTERS and (is_word or is_number) else ""


def _decode_bits(word: str) -> str:
    return _read_bytes(bytes(int(bits, 2) for bits in re.findall("[01]{8}", word)))


def _decode_morse(word: str) -> str:
    if "." not in word or "-" not in word:
        return ""
    parts: list[str] = []
    for part in re.split(r" {2,}| ?[/|] ?", word):
        codes = part.split()
        if codes:
            parts.append("".join([_MORSE_LETTERS.get(code, "?") for code in codes]))
    # Wide gaps separate either letters or words.
    are_letters = all(len(part) == 1 for part in parts)
    joined = ("" if are_letters else " ").join(parts)
    return "" if "?" in joined else joined.title()


def _decode_decimal(word: str) -> str:
    codes = [int(code) for code in re.findall(r"\d+", word)]
    if all(
        code == 32 or 65 <= code <= 90 or 97 <= code <= 122 for code in codes
    ):  # printable ASCII
        return "".join(map(chr, codes))
    return ""


def _read_bytes(raw: bytes) -> str:
    """Return the text that `raw` encodes, or "" if it encodes none."""
    if len(raw) > 2 and not any(raw[1::2]):
        raw = raw[::2]  # UTF-16
    try:
        reading = raw.decode()
    except UnicodeDecodeError:
        reading = raw.decode("latin-1")
        is_name = len(reading) > _CERTAIN_LETTERS and _NAMES_OF_THE_WEST.fullmatch(reading)
        return reading if is_name else ""
    ascii_characters = sum(map(_is_of_prose, reading))
    accented = sum(
        "\xc0" <= character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in reading
    )
    is_prose = ascii_characters + accented > 0.9 * len(reading) and accented <= len(reading) / 4
    return reading if len(reading) > 2 and is_prose and _keep_printable(reading) == reading else ""


def _is_of_prose(character: str) -> bool:
    """Return whether a character is an ASCII character that occurs in prose, data or code."""
    return character.isascii() and (
        character.isalnum() or character in " \n.,:;-/@'\"{}()[]<>=&_+#?!%*"
    )


# The patterns of encoded words, a simpler pattern that each of these also matches, and their decoders.
_DECODERS: tuple[tuple[re.Pattern[str], re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE32, re.compile("[2-7=]"), _decode_base32),
    (_HEX_BYTES, re.compile(f"{_HEX}{{2}}"), _decode_hex),
    (_BITS, re.compile("[01]"), _decode_bits),
    (_MORSE, re.compile("[.-]"), _decode_morse),
)
