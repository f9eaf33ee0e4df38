"""The site that version d2a8c2b2 left in the middle of a suite."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from agent.site.directory import Site

FIXTURE = Path(__file__).parents[2] / "data/versions/d2a8c2b2"
OLD_VERSION = 14


def copy_old_site(directory: Path) -> Site:
    """Copy it, with the modes and folders that it had."""
    shutil.copytree(FIXTURE / "site", directory)
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for name in ("data", "benchmarks", "submissions"):
        (directory / name).mkdir(mode=0o700, exist_ok=True)
    return Site(directory)


def dump(path: Path) -> list[str]:
    """Return all content of a store as statements."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return [f"version {version}", *connection.iterdump()]
