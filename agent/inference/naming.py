"""Check whether a reply has the name of the requested model. Pure; other names are stored as digests only.

A reply with another name may come from another model. Some servers have legitimate other names, such as a router that
reports the resolved name of an alias. Names that occur in the probe are therefore accepted during the run. Any further
name means that the model was changed during the run.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256

_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})\Z")
_FOLDERS = re.compile(r"[/\\]")
_MAX_NAME_LENGTH = 1024  # characters; longer names are not compared


def same_model(asked: str, named: str) -> bool:
    """Return whether `named` is a variant of the name `asked`.

    Case, preceding folders or organisations, and the extension `.gguf` are ignored. A revision (`@main`), tag
    (`:latest`) or date (`-2024-08-06`) is only compared if both names have one.
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


def find_listed_name(asked: str, listed: Sequence[str]) -> str | None:
    """Return the listed name that `asked` stands for, or None if there is none or several come into question.

    A name stands for itself, or else for a name that differs only in the case of its letters, or else for one that has
    another organisation or folder before it, or none.
    """
    if asked in listed:
        return asked
    wanted = asked.casefold()
    last_part = _FOLDERS.split(wanted)[-1]
    for alike in (
        [name for name in listed if name.casefold() == wanted],
        [name for name in listed if _FOLDERS.split(name.casefold())[-1] == last_part],
    ):
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None


def name_digest(name: str) -> str:
    """Return the digest that is stored instead of a server's other name: 16 hexadecimal digits of its SHA-256."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_check(other_names: Collection[str]) -> Callable[[str, object], bool]:
    """Return a function that checks the name in a reply (second argument) against the requested name (first).

    Args:
        other_names: digests of the other names that are known from the probe.
    """
    # A cache, since most replies have the same names as the previous one.
    last: tuple[str, object] = ("", "")

    def accepts(asked: str, named: object) -> bool:
        nonlocal last
        if (
            named == asked
            or not isinstance(named, str)
            or not named.strip()
            or (asked, named) == last
        ):
            return True  # a reply need not contain a name
        is_expected = len(named) <= _MAX_NAME_LENGTH and name_digest(named) in other_names
        if not is_expected and not same_model(asked, named):
            return False
        last = (asked, named)
        return True

    return accepts


@dataclass(frozen=True, slots=True)
class _NameParts:
    """The parts of a model's name; missing parts are empty."""

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
    """Return whether two details are equal, or at least one of them is missing."""
    return detail == detail_of_other or not (detail and detail_of_other)
