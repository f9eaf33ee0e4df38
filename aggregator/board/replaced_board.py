"""What the board that a new one replaces holds beside it: files of the user's, and auditors' signatures.

A published folder is signed as a whole, and `verify` refuses a file in it that does not belong to the board. So files
of the user's are not carried over; and they are not lost either: publishing is refused until they are moved.
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
"""Of every page that any version has made, and hardly of anybody's own."""


def refuse_foreign_files(board: Path, fresh: Collection[str]) -> None:
    """Return if nothing would be lost but files that an earlier publication made.

    Args:
        board: the folder that is to be replaced; it may be missing.
        fresh: paths of the files of the new board.

    Raises:
        SettingsError: names files that no publication has made.
    """
    foreign = [
        name for name in _list_files(board) if name not in fresh and not _is_ours(board, name)
    ]
    if not foreign:
        return
    named = ", ".join(foreign[:_MAX_NAMED])
    more = f" and {len(foreign) - _MAX_NAMED} more" if len(foreign) > _MAX_NAMED else ""
    raise SettingsError(
        f"{board} holds files that are not the board's: {named}{more}",
        "Nothing was published: they would be lost, and `verify` refuses a board with other files in it. Move them "
        "elsewhere, and let the web server add them, or whatever copies the board to it.",
    )


def count_signatures(board: Path) -> int:
    """Return the number of auditors' signatures in a published folder, whichever board they are of."""
    return sum(_AUDIT.fullmatch(name) is not None for name in _list_files(board))


def _list_files(board: Path) -> list[str]:
    """Return the paths of everything in a folder that is not a folder itself."""
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
