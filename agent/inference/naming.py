"""Whether a reply names the model that was asked. Pure; keeps a digest of a server's other name, never the name.

A reply under another name may be the answer of another model. Some servers have such a name honestly (a router that
says what it resolved an alias to), so the names that the probe met are expected for the rest of the run; a third one
means that the model was changed under it.
"""

import re
from collections.abc import Callable, Collection
from hashlib import sha256

_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})\Z")
_FOLDERS = re.compile(r"[/\\]")
_LONGEST_NAME = 1024  # characters; nothing longer is compared


def same_model(asked: str, named: str) -> bool:
    """Tell whether `named` is a form of the name `asked`.

    Case, folders or the organisation before the name, and the ending `.gguf` make no difference. A revision
    (`@main`), tag (`:latest`) or date (`-2024-08-06`) makes one only where both names have it.
    """
    if named == asked or named.startswith((asked + "@", asked + ":")):
        return True
    if len(named) > _LONGEST_NAME:
        return False
    name, *details = _parts(asked)
    other_name, *other_details = _parts(named)
    pairs = zip(details, other_details, strict=True)
    return name == other_name and all(one == other or not (one and other) for one, other in pairs)


def name_digest(name: str) -> str:
    """Return what is kept of a name that the server chose: 16 hexadecimal digits of its SHA-256."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_check(other_names: Collection[str]) -> Callable[[str, object], bool]:
    """Return a function that tells whether a reply to a model that was asked (first) may name it so (second).

    Args:
        other_names: digests of the other names that the server is known to answer by.
    """
    last: tuple[str, object] = ("", "")  # most replies are like the one before

    def accepts(asked: str, named: object) -> bool:
        nonlocal last
        if named == asked or not isinstance(named, str) or not named.strip() or (asked, named) == last:
            return True  # a server need not name it
        if not (same_model(asked, named) or (len(named) <= _LONGEST_NAME and name_digest(named) in other_names)):
            return False
        last = (asked, named)
        return True

    return accepts


def _parts(name: str) -> tuple[str, str, str, str]:
    """Return name, date, tag and revision."""
    name, _, revision = name.casefold().strip().partition("@")
    name, _, tag = _FOLDERS.split(name.rstrip("/\\"))[-1].partition(":")
    name = name.removesuffix(".gguf")
    dated = _DATE.search(name)
    return (name[: dated.start()], dated[1], tag, revision) if dated else (name, "", tag, revision)
