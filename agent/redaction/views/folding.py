"""Text as the recognisers read it: the same letters in their plainest form.

Identifiers are often written with characters that only look plain: full-width digits, typographic dashes and quotes,
Cyrillic letters in Latin words, letters with lines struck through them. Folding gives each its plain character and
keeps where it stood. Two steps: characters one by one (NFKC of Unicode, and what NFKC does not know), then words, where
a letter of another script stands among Latin ones.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import regex

_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]+")

_QUOTES = dict.fromkeys("‘’‚‛′`´ʼ＇", "'") | dict.fromkeys("“”„‟″＂", '"')
# NFKC makes words of these signs, which would grow together with the word before.
_SIGNS = {"\u2122": "\u2122", "\u2120": "\u2120", "\u2026": "...", "\u2044": "/", "\u2215": "/"}


def _letters(first: int, characters: str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ") -> dict[str, str]:
    return {chr(first + place): character for place, character in enumerate(characters)}


# Letters that NFKC leaves alone: small capitals, those in black circles and squares, flags, turned and barred ones.
_DRAWN = (
    _letters(0x1F110) | _letters(0x249C, "abcdefghijklmnopqrstuvwxyz")
    | _letters(0x1F150) | _letters(0x1F170) | _letters(0x1F1E6)
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
    | dict(zip("ɐɔǝɟɓɥıɾʞɯɹʇʌʍʎ", "acefghijkmrtvwy", strict=True))
    | dict(zip("ɑɡᏻłøđħŧƀɨʉᵻƶꝁɫɩ", "agylodhtbiuizkli", strict=True))
    | dict(zip("ŁØĐĦŦɃƗɄƵꝀ", "LODHTBIUZK", strict=True))
    | _letters(0x2776, "123456789") | _letters(0x2780, "123456789") | _letters(0x278A, "123456789")
    | {"\u24ff": "0", "\U0001f10c": "0"}
)  # fmt: skip

# Letters of other scripts by the Latin letter that they are drawn like (after Unicode's confusables, UTS 39).
_LOOKALIKES = (
    dict(zip("АВЕЅІЈКМНОРСТУХҮԌԚԜҺӀЗ", "ABESIJKMHOPCTYXYGQWhI3", strict=True))
    | dict(zip("авеѕіјкмнорстухүԁԛԝһӏё", "abesijkmhopctyxydqwhle", strict=True))
    | dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳ", "ABEZHIKMNOPTYXCj", strict=True))
    | dict(zip("αβγεηικνορτυχωϲσ", "abyenikvoptuxwco", strict=True))
    | dict(zip("ՕՍՏԼհոսցօզյաՀ", "OUSLhnugoqjwZ", strict=True))
    | dict(zip("ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHIJKLMPRSTVWZ", strict=True))
    | dict(zip("ⲀⲂⲤⲈⲎⲒⲔⲘⲚⲞⲢⲦⲨⲬⲟⲣⲥ", "ABCEHIKMNOPTYXopc", strict=True))
)  # fmt: skip


class _Plain(dict[int, str]):
    """Characters by code point in their plainest form, worked out when first met."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain(chr(code))
        return plain


def _plain(character: str) -> str:
    if plain := _QUOTES.get(character) or _SIGNS.get(character) or _DRAWN.get(character):
        return plain
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Pd" or character in "\u2212\u02d7\u30fc\u2796\u2043\u23af":
        return "-"
    if category == "Zs":
        return " "
    if unicodedata.decomposition(character).startswith("<fraction>"):
        return character
    return unicodedata.normalize("NFKC", character)


_PLAIN = _Plain({code: chr(code) for code in range(0x80)} | {ord("`"): "'"})

# What one character cannot be read by itself: marks, invisible ones, and those that are drawn as one with them. What
# is not here, and has a plain form of one character, keeps its place.
_SIMPLE = "".join(
    character
    for character in map(
        chr, [*range(0xA0, 0x250), *range(0x370, 0x3FF), *range(0x2010, 0x23FF), *range(0x25A0, 0x2600)]
    )
    if len(_PLAIN[ord(character)]) == 1
    and not _INVISIBLE.match(character)
    and unicodedata.category(character) not in ("Cn", "Mn", "Me", "Mc")
)
_HARD = re.compile(f"[^\x00-\x7f{re.escape(_SIMPLE)}]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_GRAPHEME = regex.compile(r"\X")
_WORD = regex.compile(r"[\p{L}\p{M}]++")
_DRAWN_LIKE_LATIN = regex.compile(r"[\p{Cyrillic}\p{Greek}\p{Armenian}\p{Cherokee}\p{Coptic}]")
_COMPOSED = 4  # characters; a letter with more marks than two is not one that is printed
_ESCAPED_BREAK = re.compile(r"(?<!\\)\\{1,4096}[nrt\"](?![a-z]{2,20}\{)")
_BREAKS = {"n": "\n", "r": "\n", "t": "\t", '"': '"'}
_LATIN = regex.compile(r"\p{Latin}")
_NO_TEXT = regex.compile(r"[[\p{Cc}\p{Cs}\ufffd]--[\t\n\r\f\v]]", regex.VERSION1)


def remove_invisible(text: str) -> str:
    """Drop characters that show nothing (zero-width, bidirectional controls, soft hyphens, tags)."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


@dataclass(slots=True)
class Folded:
    """A text in its plainest form.

    Attributes:
        starts, ends: by character of `text`, the place in the original that it stands for, end exclusive. None: the
            same place, for every character.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None


@dataclass(slots=True)
class _Writer:
    pieces: list[str] = field(default_factory=list)
    starts: "array[int]" = field(default_factory=lambda: array("I"))
    ends: "array[int]" = field(default_factory=lambda: array("I"))

    def plain(self, text: str, start: int, end: int) -> None:
        """Copy a stretch whose characters all keep their places."""
        self.pieces.append(text[start:end].translate(_PLAIN))
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def read_as(self, plain: str, start: int, end: int) -> None:
        """Write `plain` for one character of the original with its marks; nothing is drawn to the one before it."""
        if plain:
            self.pieces.append(plain)
            self.starts.extend([start] * len(plain))
            self.ends.extend([end] * len(plain))
        elif self.ends:
            self.ends[-1] = end


def fold(text: str) -> Folded:
    """Return `text` in its plainest form. Linear in its length."""
    if text.isascii():
        return Folded(text.replace("`", "'"))
    if not _HARD.search(text):
        return Folded(text.translate(_PLAIN))
    writer, done = _Writer(), 0
    for start, end in _clusters(text):
        writer.plain(text, done, start)
        writer.read_as(_as_plain(text[start:end]), start, end)
        done = end
    writer.plain(text, done, len(text))
    return Folded("".join(writer.pieces), writer.starts, writer.ends)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield what is drawn as one character, wherever that is not one simple character."""
    place = 0
    while hard := _HARD.search(text, place):
        begin = hard.start()
        # A mark belongs to the character before it, simple or not.
        if begin > place and not _INVISIBLE.match(text, begin) and unicodedata.category(text[begin])[0] == "M":
            begin -= 1
        place = (
            begin + 2
            if _FLAG.match(text, begin)
            else end
            if (end := _GRAPHEME.match(text, begin).end()) > begin
            else begin + 1
        )
        yield begin, place


def _as_plain(cluster: str) -> str:
    """Return what a reader takes `cluster` for: its letters, with the marks that some letter has in print."""
    seen = _INVISIBLE.sub("", cluster)
    if 1 < len(seen) < _COMPOSED:
        seen = unicodedata.normalize("NFC", seen)
    return "".join(_PLAIN[ord(c)] for c in seen if unicodedata.category(c)[0] != "M")


def unescape_breaks(text: str) -> str:
    """Return `text` with the line ends, tabs and quotes of JSON as those and spaces; same length."""
    if "\\" not in text:
        return text
    return _ESCAPED_BREAK.sub(lambda found: " " * (len(found.group()) - 1) + _BREAKS[found.group()[-1]], text)


def replace_lookalikes(text: str) -> str:
    """Return `text` with letters of other scripts as the Latin ones they look like, in words that mean to be Latin.

    Same length. A word means to be Latin when it has Latin letters too, or is drawn wholly with look-alikes.
    """
    if not _DRAWN_LIKE_LATIN.search(text):
        return text
    latin: str = _WORD.sub(lambda word: _latin_word(word.group()), text)
    return latin


def _latin_word(word: str) -> str:
    if word.isascii() or not _DRAWN_LIKE_LATIN.search(word):
        return word
    drawn = "".join(_LOOKALIKES.get(character, character) for character in word)
    if _LATIN.search(word):
        return drawn
    return drawn if len(word) > 2 and all(_LATIN.match(character) for character in drawn) else word


def is_text(text: str) -> bool:
    """Tell whether `text` can be judged at all: no lone surrogates, control or replacement characters."""
    return not _NO_TEXT.search(text)
