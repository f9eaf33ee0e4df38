"""Files in a board's folder that a new board does not replace: the user's own files, and auditors' signatures.

A published folder is signed as a whole, and `verify` refuses files that do not belong to the board.
The user's own files are therefore not copied to the new folder. To avoid losing them, publishing is
refused until they are moved.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from aggregator.errors import SettingsError
from protocol.audit import AUDITS_FOLDER

_MAX_NAMED: Final = 5
_AUDIT: Final = re.compile(rf"{AUDITS_FOLDER}[0-9a-f]{{64}}\.dsse\.json")
_LOG: Final = re.compile(
    r"log/(checkpoint|registry/[0-9]+\.dsse\.json|entries/(x[0-9]{3}/)*[0-9]{3}(\.p/[0-9]+)?)"
)
_KEPT: Final = re.compile(
    r"releases\.json|releases/[0-9]+\.json|references/[A-Za-z0-9][A-Za-z0-9._-]*\.json"
)
_START_OF_A_PAGE: Final = (
    b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-'
)
"""The beginning of every page that any version has published; a user's own page is unlikely to have it."""


def refuse_foreign_files(board: Path, fresh: Collection[str]) -> None:
    """Check that only files written by an earlier publication would be lost.

    Args:
        board: The folder to be replaced; it may be missing.
        fresh: Paths of the files of the new board.

    Raises:
        SettingsError: the folder contains other files, which the message names.
    """
    foreign = [
        name for name in _list_files(board) if name not in fresh and not _is_ours(board, name)
    ]
    if not foreign:
        return
    named = ", ".join(foreign[:_MAX_NAMED])
    more = f" and {len(foreign) - _MAX_NAMED} more" if len(foreign) > _MAX_NAMED else ""
    raise SettingsError(
        f"{board} contains files that do not belong to the board: {named}{more}",
        "Nothing was published: they would be lost, and `verify` refuses a board with other files in it. Move them "
        "elsewhere, and have the web server, or the tool that copies the board to it, add them.",
    )


def count_signatures(board: Path) -> int:
    """Return the number of auditors' signatures in a published folder, of any board."""
    return sum(_AUDIT.fullmatch(name) is not None for name in _list_files(board))


def _list_files(board: Path) -> list[str]:
    """Return the paths of everything in a folder except subfolders."""
    found = [path for path in sorted(board.rglob("*")) if path.is_symlink() or not path.is_dir()]
    return [path.relative_to(board).as_posix() for path in found]


def _is_ours(board: Path, name: str) -> bool:
    path = board / name
    if path.is_symlink() or not path.is_file():
        return False
    if any(form.fullmatch(name) for form in (_AUDIT, _LOG, _KEPT)):
        return True
    return name.endswith(".html") and _starts_as_a_page(path)


def _starts_as_a_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_START_OF_A_PAGE)) == _START_OF_A_PAGE
