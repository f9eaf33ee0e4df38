"""Text as the recognisers read it: the same letters in their plainest form, character for character.

Identifiers are often written with characters that only look plain: full-width digits, typographic dashes and quotes,
no-break spaces. Folding maps each to one plain character, so that offsets in the folded text are offsets in the text.
"""

import unicodedata

_INVISIBLE = dict.fromkeys(
    [
        0xAD,
        0x34F,
        0x61C,
        0x180E,
        0xFEFF,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE0080),
    ]
)
_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´ʼ＇"), "'") | dict.fromkeys(map(ord, "“”„‟″＂"), '"')
_ALLOWED_CONTROLS = frozenset("\t\n\r\f\v")


def without_invisible(text: str) -> str:
    """Drop characters that show nothing (zero-width, bidirectional controls, soft hyphens, tags)."""
    return text.translate(_INVISIBLE)


def invisible(character: str) -> bool:
    """Tell whether a character shows nothing."""
    return ord(character) in _INVISIBLE


def folded(text: str) -> str:
    """Return `text` with each character in its plainest form; same length, same offsets."""
    if text.isascii():
        return text.replace("`", "'")
    return "".join(character if character < "\x80" else _plain(character) for character in text.translate(_QUOTES))


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Pd" or character == "\u2212":
        return "-"
    if category == "Zs":
        return " "
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def is_text(text: str) -> bool:
    """Tell whether `text` can be judged at all: no lone surrogates, control or replacement characters."""
    return not any(
        character == "\ufffd"
        or (character not in _ALLOWED_CONTROLS and unicodedata.category(character) in ("Cc", "Cs"))
        for character in text
        if not " " <= character <= "~"
    )
