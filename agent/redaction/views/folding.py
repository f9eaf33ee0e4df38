"""Fold text to its plainest form: the same letters, as the recognisers read them.

Identifiers are often written with characters that look plain but are not: full-width digits, typographic dashes and
quotes, Cyrillic letters in Latin words, letters with strokes. Folding replaces each with its plain character and
records the original position. It works in two steps: first single characters (Unicode's NFKC, with additions), then
letters of other scripts within Latin words.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import regex

_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]+")

_QUOTES = dict.fromkeys("‘’‚‛′`´ʼ＇", "'") | dict.fromkeys("“”„‟″＂", '"')
# Signs that NFKC expands to words, which would merge with the preceding word.
_SIGNS = {"\u2122": "\u2122", "\u2120": "\u2120", "\u2026": "...", "\u2044": "/", "\u2215": "/"}


def _map_block(first: int, letters: str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ") -> dict[str, str]:
    """Return the mapping from a Unicode block of styled letters, starting at code point `first`, to plain `letters`."""
    return {chr(code): letter for code, letter in enumerate(letters, first)}


# Letters that NFKC does not change: small capitals, those in black circles and squares, flags, turned and barred ones.
_DRAWN = (
    _map_block(0x1F110) | _map_block(0x249C, "abcdefghijklmnopqrstuvwxyz")
    | _map_block(0x1F150) | _map_block(0x1F170) | _map_block(0x1F1E6)
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
    | dict(zip("ɐɔǝɟɓɥıɾʞɯɹʇʌʍʎ", "acefghijkmrtvwy", strict=True))
    | dict(zip("ɑɡᏻłøđħŧƀɨʉᵻƶꝁɫɩ", "agylodhtbiuizkli", strict=True))
    | dict(zip("ŁØĐĦŦɃƗɄƵꝀ", "LODHTBIUZK", strict=True))
    | _map_block(0x2776, "123456789") | _map_block(0x2780, "123456789") | _map_block(0x278A, "123456789")
    | {"\u24ff": "0", "\U0001f10c": "0"}
)  # fmt: skip

# Latin letters by the letters of other scripts that look like them (after Unicode's confusables, UTS 39).
_LOOKALIKES = (
    dict(zip("АВЕЅІЈКМНОРСТУХҮԌԚԜҺӀЗ", "ABESIJKMHOPCTYXYGQWhI3", strict=True))
    | dict(zip("авеѕіјкмнорстухүԁԛԝһӏё", "abesijkmhopctyxydqwhle", strict=True))
    | dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳ", "ABEZHIKMNOPTYXCj", strict=True))
    | dict(zip("αβγεηικνορτυχωϲσ", "abyenikvoptuxwco", strict=True))
    | dict(zip("ՕՍՏԼհոսցօզյաՀ", "OUSLhnugoqjwZ", strict=True))
    | dict(zip("ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHIJKLMPRSTVWZ", strict=True))
    | dict(zip("ⲀⲂⲤⲈⲎⲒⲔⲘⲚⲞⲢⲦⲨⲬⲟⲣⲥ", "ABCEHIKMNOPTYXopc", strict=True))
)  # fmt: skip


class _PlainCharacters(dict[int, str]):
    """Plain forms by code point. Each is computed from Unicode's tables when it is first needed."""

    def __missing__(self, code: int) -> str:
        plain = _find_plain(chr(code))
        self[code] = plain
        return plain


def _find_plain(character: str) -> str:
    """Return the plainest form of a character, which may be empty or several characters long."""
    plain = _QUOTES.get(character) or _SIGNS.get(character) or _DRAWN.get(character)
    if plain:
        return plain
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Pd" or character in "\u2212\u02d7\u30fc\u2796\u2043\u23af":
        return "-"
    if category == "Zs":
        return " "
    if unicodedata.decomposition(character).startswith("<fraction>"):
        return character  # NFKC would turn "1\u00bd" into "11/2"
    return unicodedata.normalize("NFKC", character)


_PLAIN = _PlainCharacters({code: chr(code) for code in range(0x80)} | {ord("`"): "'"})

# Unicode blocks that are common in notes. Other characters are folded as clusters, which takes longer.
_COMMON_BLOCKS = (
    range(0xA0, 0x250),
    range(0x370, 0x3FF),
    range(0x2010, 0x23FF),
    range(0x25A0, 0x2600),
)
_MARKS_AND_UNASSIGNED = ("Cn", "Mn", "Me", "Mc")


def _list_simple_characters() -> Iterator[str]:
    """Yield the visible characters, excluding marks, whose plain form is a single character."""
    for code in chain.from_iterable(_COMMON_BLOCKS):
        character = chr(code)
        if len(_PLAIN[code]) != 1 or _INVISIBLE.match(character):
            continue
        if unicodedata.category(character) not in _MARKS_AND_UNASSIGNED:
            yield character


_SIMPLE = "".join(_list_simple_characters())
# A character that may have to be folded together with its neighbours, or whose plain form is not one character.
_HARD = re.compile(f"[^\x00-\x7f{re.escape(_SIMPLE)}]")
# Two letters, and marks combined with them.
_FLAG = regex.compile(r"[\U0001f1e6-\U0001f1ff]{2}[\p{M}\u200d]*")
_GRAPHEME = regex.compile(r"\X")
_WORD = regex.compile(r"[\p{L}\p{M}]++")
_DRAWN_LIKE_LATIN = regex.compile(r"[\p{Cyrillic}\p{Greek}\p{Armenian}\p{Cherokee}\p{Coptic}]")
_COMPOSED = 4  # characters; no printed letter has more than two marks
_ESCAPED_BREAK = re.compile(r"(?<!\\)\\{1,4096}[nrt\"](?![a-z]{2,20}\{)")
_BREAKS = {"n": "\n", "r": "\n", "t": "\t", '"': '"'}
_LATIN = regex.compile(r"\p{Latin}")
_NO_TEXT = regex.compile(r"[[\p{Cc}\p{Cs}\ufffd]--[\t\n\r\f\v]]", regex.VERSION1)


def remove_invisible(text: str) -> str:
    """Remove invisible characters (zero-width, bidirectional controls, soft hyphens, tags)."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


@dataclass(slots=True)
class Folded:
    """A text in its plainest form.

    Attributes:
        starts: for each character of `text`, the start of its original; None if no position changed.
        ends: for each character of `text`, the end of its original, exclusive; None if no position changed.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None


@dataclass(slots=True)
class _FoldedWriter:
    """Writes a folded text stretch by stretch, and records the original position of each character."""

    pieces: list[str] = field(default_factory=list)
    starts: "array[int]" = field(default_factory=lambda: array("I"))
    ends: "array[int]" = field(default_factory=lambda: array("I"))

    def write_simple(self, text: str, start: int, end: int) -> None:
        """Write a stretch of simple characters, each of which folds to one character."""
        self.pieces.append(text[start:end].translate(_PLAIN))
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def write_cluster(self, plain: str, start: int, end: int) -> None:
        """Write `plain` for a cluster. An invisible cluster is assigned to the preceding character."""
        if plain:
            self.pieces.append(plain)
            self.starts.extend([start] * len(plain))
            self.ends.extend([end] * len(plain))
        elif self.ends:
            self.ends[-1] = end

    def finish(self) -> Folded:
        """Return the folded text."""
        return Folded("".join(self.pieces), self.starts, self.ends)


def fold(text: str) -> Folded:
    """Return `text` in its plainest form, in time linear in its length."""
    if text.isascii():
        return Folded(text.replace("`", "'"))
    if not _HARD.search(text):
        return Folded(text.translate(_PLAIN))
    writer = _FoldedWriter()
    position = 0
    for start, end in _split_clusters(text):
        writer.write_simple(text, position, start)
        writer.write_cluster(_read_cluster(text[start:end]), start, end)
        position = end
    writer.write_simple(text, position, len(text))
    return writer.finish()


def _split_clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each cluster: characters drawn as one, or a single character that is not simple."""
    position = 0
    while hard := _HARD.search(text, position):
        start = hard.start()
        is_visible = not _INVISIBLE.match(text, start)
        if start > position and is_visible and unicodedata.category(text[start])[0] == "M":
            start -= 1  # a mark belongs to the preceding character, even a simple one
        cluster = _FLAG.match(text, start) or _GRAPHEME.match(text, start)
        position = max(cluster.end(), start + 1)
        yield start, position


def _read_cluster(cluster: str) -> str:
    """Return a cluster as a reader sees it: its letters, with only the marks that occur in print."""
    visible = _INVISIBLE.sub("", cluster)
    if 1 < len(visible) < _COMPOSED:
        visible = unicodedata.normalize("NFC", visible)
    letters = [
        _PLAIN[ord(character)] for character in visible if unicodedata.category(character)[0] != "M"
    ]
    return "".join(letters)


def unescape_breaks(text: str) -> str:
    """Return `text` with JSON's escaped line ends, tabs and quotes unescaped, padded to the same length."""
    if "\\" not in text:
        return text
    return _ESCAPED_BREAK.sub(_write_break, text)


def _write_break(escape: re.Match[str]) -> str:
    spaces = " " * (len(escape.group()) - 1)
    return spaces + _BREAKS[escape.group()[-1]]


def replace_lookalikes(text: str) -> str:
    """Return `text` with lookalike letters of other scripts replaced in words that are meant to be Latin.

    The length does not change. A word is meant to be Latin if it also has Latin letters, or if it consists entirely of
    lookalikes.
    """
    if not _DRAWN_LIKE_LATIN.search(text):
        return text
    replaced: str = _WORD.sub(_replace_in_word, text)
    return replaced


def _replace_in_word(match: "regex.Match[str]") -> str:
    word: str = match.group()
    if word.isascii() or not _DRAWN_LIKE_LATIN.search(word):
        return word
    replaced = "".join([_LOOKALIKES.get(character, character) for character in word])
    if _LATIN.search(word):
        return replaced
    is_latin = len(word) > 2 and all(_LATIN.match(character) for character in replaced)
    return replaced if is_latin else word


def is_text(text: str) -> bool:
    """Return whether `text` can be analysed: it has no lone surrogates, control or replacement characters."""
    return not _NO_TEXT.search(text)
