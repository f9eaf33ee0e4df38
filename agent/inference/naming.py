"""Tell whether a reply names the model that was asked. Pure; keeps a digest of a server's other name, never the name.

A reply under another name may be the answer of another model. Some servers have such a name honestly (a router that
says what it resolved an alias to), so the names that the probe met are expected for the rest of the run; a third one
means that the model was changed under it.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256

_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})\Z")
_FOLDERS = re.compile(r"[/\\]")
_MAX_NAME_LENGTH = 1024  # characters; nothing longer is compared


def same_model(asked: str, named: str) -> bool:
    """Tell whether `named` is a form of the name `asked`.

    Case, folders or the organisation before the name, and the ending `.gguf` make no difference. A revision
    (`@main`), tag (`:latest`) or date (`-2024-08-06`) makes one only where both names have it.
    """
    if named == asked or named.startswith((asked + "@", asked + ":")):
        return True
    if len(named) > _MAX_NAME_LENGTH:
        return False
    asked_name, named_name = _NameParts.read(asked), _NameParts.read(named)
    if asked_name.name != named_name.name:
        return False
    return (
        _agree(asked_name.date, named_name.date)
        and _agree(asked_name.tag, named_name.tag)
        and _agree(asked_name.revision, named_name.revision)
    )


def name_digest(name: str) -> str:
    """Return the digest that is kept of a name that the server chose: 16 hexadecimal digits of its SHA-256."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_check(other_names: Collection[str]) -> Callable[[str, object], bool]:
    """Return a function that tells whether a reply to a model that was asked (first) may name it so (second).

    Args:
        other_names: digests of the other names that the server is known to answer by.
    """
    last: tuple[str, object] = ("", "")  # most replies are like the one before

    def accepts(asked: str, named: object) -> bool:
        nonlocal last
        if (
            named == asked
            or not isinstance(named, str)
            or not named.strip()
            or (asked, named) == last
        ):
            return True  # a server need not name it
        is_expected = len(named) <= _MAX_NAME_LENGTH and name_digest(named) in other_names
        if not is_expected and not same_model(asked, named):
            return False
        last = (asked, named)
        return True

    return accepts


@dataclass(frozen=True, slots=True)
class _NameParts:
    """The parts of a model's name; a missing one is empty."""

    name: str
    date: str
    tag: str
    revision: str

    @classmethod
    def read(cls, text: str) -> "_NameParts":
        path, _, revision = text.casefold().strip().partition("@")
        file_name = _FOLDERS.split(path.rstrip("/\\"))[-1]
        name, _, tag = file_name.partition(":")
        name = name.removesuffix(".gguf")
        dated = _DATE.search(name)
        if dated is None:
            return cls(name, date="", tag=tag, revision=revision)
        return cls(name[: dated.start()], date=dated[1], tag=tag, revision=revision)


def _agree(detail: str, detail_of_other: str) -> bool:
    """Tell whether two details are the same, or one name has none."""
    return detail == detail_of_other or not (detail and detail_of_other)
