"""Text that stands for other text by rule: escapes of JSON, URLs, HTML and mail, base64, hexadecimal, Morse.

Each function finds the places of a text that can be read so, and yields what they read. One layer at a time: what is
decoded is looked at again by `agent.redaction.views.views`.
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
    """A place of a text that can be read otherwise.

    Attributes:
        plain: what `text[start:end]` reads; may be empty.
        crossing: whether a finding counts only when it reaches over this place on both sides. Otherwise it is enough
            that it touches it.
        backwards: whether the characters of `plain` are those of the text in opposite order.
    """

    start: int
    end: int
    plain: str
    crossing: bool = False
    backwards: bool = False


_HEX = "[0-9a-fA-F]"
_JSON = re.compile(
    rf"(?<!\\)(?:(?:\\{{1,4096}}u{_HEX}{{4}})+|\\{{1,4096}}u\{{{_HEX}{{1,6}}\}}|\\{{1,4096}}U{_HEX}{{8}}"
    rf"|(?:\\{{1,4096}}x{_HEX}{{2}})+|(?:\\{{1,4096}}[0-3][0-7]{{2}})+|\\{{1,4096}}['/])"
)
_JSON_UNITS = re.compile(rf"u({_HEX}{{4}})|x({_HEX}{{2}})|([0-3][0-7]{{2}})")
_CODE_POINTS = re.compile(rf"(?:[Uu]\+{_HEX}{{4,5}}[ ,;]{{0,2}}){{2,}}")
_URL = re.compile(rf"(?:%(?:25){{0,4}}{_HEX}{{2}})+")
_HTML = re.compile(rf"&(?:amp;){{0,4}}(?:#\d{{1,7}};?|#[xX]{_HEX}{{1,6}};?|[A-Za-z]{{2,31}}\d{{0,2}};)")
_URL_UNITS = re.compile(rf"(?:%u{_HEX}{{4}})+")
_NAMED = re.compile(r"\\{1,8}N\{([A-Z][A-Z0-9 -]{1,60})\}")
_QUOTED = re.compile(r"=\r?\n|(?:=[0-9A-F]{2})+")

# Lower-case letters, and capitals or digits after the first letter: no word of prose, and nearly all base64.
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_=-])(?=[A-Za-z][a-z]*[A-Z0-9+/]|[0-9+/])(?=[A-Z0-9+/]*[a-z])"
    r"[A-Za-z0-9+/_-]{6,}={0,2}(?![A-Za-z0-9+/_])"
)
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
_WORDS_BESIDE = 3  # of four letters that are no part of what is in groups
# Names as the character set of Western Europe has them, which is hardly ever so by chance.
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
_MORSE_LETTERS = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
            "-----",
            ".----",
            "..---",
            "...--",
            "....-",
            ".....",
            "-....",
            "--...",
            "---..",
            "----.",
        ],
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        strict=True,
    )
)
_TOLD_LETTERS = 4  # that decode to text: by chance this is as good as never so
_OPAQUE = 32  # characters of encoded data that cannot be read: it may hold anybody


def escapes(text: str) -> Iterator[Substitution]:
    """Yield the escapes of JSON, URLs, HTML and quoted-printable mail."""
    if "\\" in text:
        for match in _JSON.finditer(text):
            yield from _json(match)
        for match in _NAMED.finditer(text):
            with suppress(KeyError):
                yield Substitution(*match.span(), _printable(unicodedata.lookup(match.group(1))))
    if "%" in text:
        for match in _URL_UNITS.finditer(text):
            units = re.findall(rf"%u({_HEX}{{4}})", match.group())
            yield from _spread(match, bytes.fromhex("".join(units)).decode("utf-16-be", "ignore"), len(units))
        for match in _URL.finditer(text):
            codes = re.findall(rf"{_HEX}{{2}}(?=%|$)", match.group())
            yield from _bytes(match, bytes.fromhex("".join(codes)), len(codes))
    if "&" in text:
        for match in _HTML.finditer(text):
            read = html.unescape("&" + match.group()[1:].replace("amp;", ""))
            if not read.startswith("&") or match.group().startswith("&amp;"):
                yield Substitution(*match.span(), _printable(read) or " ")
    if "=" in text:
        for match in _QUOTED.finditer(text):
            codes = match.group().split("=")[1:]
            if match.group().endswith("\n"):
                yield Substitution(*match.span(), "")
            elif len(codes) > 1 or text[match.end() : match.end() + 1].isalpha():
                yield from _bytes(match, bytes.fromhex("".join(codes)), len(codes))
    if "+" in text:
        for match in _CODE_POINTS.finditer(text):
            yield Substitution(
                *match.span(), "".join(_character(code) for code in re.findall(r"\+(\w+)", match.group()))
            )


def _json(match: re.Match[str]) -> Iterator[Substitution]:
    escaped = match.group().lstrip("\\")
    if escaped in ("'", "/"):
        yield Substitution(*match.span(), escaped)
    elif escaped[:2] == "u{" or escaped[0] == "U":
        yield Substitution(*match.span(), _character(escaped.strip("uU{}")))
    else:
        units = [unit for found in _JSON_UNITS.findall(match.group()) for unit in found if unit]
        if escaped[0] == "u":
            raw = b"".join(int(unit, 16).to_bytes(2, "big") for unit in units)
            yield from _spread(match, raw.decode("utf-16-be", "ignore"), len(units))
        else:
            yield from _bytes(match, bytes(int(unit, 16 if escaped[0] == "x" else 8) for unit in units), len(units))


def _bytes(match: re.Match[str], raw: bytes, units: int) -> Iterator[Substitution]:
    try:
        read = raw.decode()
    except UnicodeDecodeError:
        read = raw.decode("latin-1")
    yield from _spread(match, read, units)


def _spread(match: re.Match[str], read: str, units: int) -> Iterator[Substitution]:
    """Give each character its own escape where there are as many of one as of the other."""
    if _printable(read) != read:
        return
    start, end = match.span()
    if len(read) == units and (end - start) % units == 0:
        width = (end - start) // units
        for place, character in enumerate(read):
            yield Substitution(start + place * width, start + (place + 1) * width, character)
    elif read:
        yield Substitution(start, end, read)


def _character(code: str) -> str:
    number = int(code, 16)
    return _printable(chr(number)) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else ""


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable() or character in "\t\n")


def encoded(text: str) -> Iterator[Substitution | Span]:
    """Yield whole words of encoded text, and as identifiers those that hide text or cannot be read at all."""
    done = 0
    for match in _WRAPPED.finditer(text):
        if read := _from_base64("".join(match.group().split())):
            yield from _hidden(match, read)
            done = match.end()
    for match in _BASE64.finditer(text, done):
        if read := _from_base64(match.group()):
            yield from _hidden(match, read)
        elif len(match.group()) >= _OPAQUE and _scrambled(match.group()):
            yield Span(*match.span(), "ID")
    for match in _IN_GROUPS.finditer(text):
        yield from _grouped(match)
    if not text.isascii():
        for match in _BRAILLE.finditer(text):
            read = "".join(_CELLS.get(cell, " ") for cell in match.group())
            yield from _hidden(match, read.capitalize())
    for pattern, decode in _DECODERS:
        for match in pattern.finditer(text):
            if read := decode(match.group()):
                yield from _hidden(match, read)
            elif pattern is _HEX_BYTES and len(match.group()) >= _OPAQUE and " " not in match.group():
                yield Span(*match.span(), "ID")
    if "," in text or " " in text:
        for match in _DECIMAL.finditer(text):
            if read := _from_decimal(match.group()):
                yield Substitution(*match.span(), read)
    if "/" in text or "." in text:
        for match in _DECIMAL_SLASHED.finditer(text):
            if read := _from_decimal(match.group()):
                yield Substitution(*match.span(), read.capitalize())


def _grouped(match: re.Match[str]) -> Iterator[Substitution | Span]:
    """Yield base64 in groups of four, without words of four letters that stand before and after it."""
    groups = match.group().split()
    if not any(any(map(str.isupper, group[1:])) or any(map(str.isdigit, group)) for group in groups):
        return
    for before in range(min(_WORDS_BESIDE, len(groups) - _WORDS_BESIDE)):
        for after in range(min(_WORDS_BESIDE, len(groups) - before - _WORDS_BESIDE)):
            inside = groups[before : len(groups) - after]
            if read := _from_base64("".join(inside)):
                start = match.start() + sum(len(group) + 1 for group in groups[:before])
                end = start + len(" ".join(inside))
                yield Substitution(start, end, read)
                yield Span(start, end, "ID")
                return


def _hidden(match: re.Match[str], read: str) -> Iterator[Substitution | Span]:
    yield Substitution(*match.span(), read)
    if sum(map(str.isalnum, read)) >= _TOLD_LETTERS:
        yield Span(*match.span(), "ID")


def _scrambled(word: str) -> bool:
    """Tell encoded data from a long name of a file or a chemical: its kinds of characters change all the time."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "" for c in word]
    return "d" in kinds and sum(one != other for one, other in pairwise(kinds)) * 3 > len(word)


def _from_base64(word: str) -> str:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) % 4 == 1:
        return ""
    try:
        return _readable(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except ValueError:
        return ""


def _from_base32(word: str) -> str:
    plain = word.rstrip("=")
    try:
        return _readable(base64.b32decode(plain + "=" * (-len(plain) % 8)))
    except ValueError:
        return ""


def _from_hex(word: str) -> str:
    codes = re.findall(rf"{_HEX}{{2}}", word.replace("0x", ""))
    read = _readable(bytes.fromhex("".join(codes)))
    # Numbers, as of a chart, are no bytes.
    if not re.search("[a-fA-F]", word.replace("0x", "")):
        told = len(read) > _TOLD_LETTERS and (read.replace(" ", "").isalpha() or (" " in word and read.isdigit()))
        return read if told else ""
    return read


def _from_bits(word: str) -> str:
    return _readable(bytes(int(bits, 2) for bits in re.findall("[01]{8}", word)))


def _from_morse(word: str) -> str:
    if "." not in word or "-" not in word:
        return ""
    letters = [
        "".join(_MORSE_LETTERS.get(letter, "?") for letter in part.split())
        for part in re.split(r" {2,}| ?[/|] ?", word)
        if part.strip()
    ]
    joined = "".join(letters) if all(len(part) == 1 for part in letters) else " ".join(letters)
    return "" if "?" in joined else joined.title()


def _from_decimal(word: str) -> str:
    codes = [int(code) for code in re.findall(r"\d+", word)]
    if all(code == 32 or 65 <= code <= 90 or 97 <= code <= 122 for code in codes):
        return "".join(map(chr, codes))
    return ""


def _readable(raw: bytes) -> str:
    """Return the text that `raw` is, or nothing when it is none."""
    if len(raw) > 2 and not any(raw[1::2]):
        raw = raw[::2]  # UTF-16
    try:
        read = raw.decode()
    except UnicodeDecodeError:
        read = raw.decode("latin-1")
        return read if len(read) > _TOLD_LETTERS and _NAMES_OF_THE_WEST.fullmatch(read) else ""
    ascii_letters = sum(c.isascii() and (c.isalnum() or c in " \n.,:;-/@'\"{}()[]<>=&_+#?!%*") for c in read)
    other_letters = sum("\xc0" <= c < "\u0250" or "\u1e00" <= c < "\u1f00" for c in read)
    common = ascii_letters + other_letters > 0.9 * len(read) and other_letters <= len(read) / 4
    return read if len(read) > 2 and common and _printable(read) == read else ""


_DECODERS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE32, _from_base32),
    (_HEX_BYTES, _from_hex),
    (_BITS, _from_bits),
    (_MORSE, _from_morse),
)
