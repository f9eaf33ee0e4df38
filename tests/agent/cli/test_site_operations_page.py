"""docs/site-operations.md: its commands do what it says, as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.backup.conftest import PASSPHRASE, fill_site

PAGE = (Path(__file__).parents[3] / "docs/site-operations.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def find_block(command: str) -> str:
    (block,) = [block for block in BLOCKS if command in block]
    return block


def follow(block: str, folder: Path) -> str:
    """Run the lines of a block word for word, with its folders moved below a folder of the test."""
    script = "set -e\n" + re.sub(r"/(backup|srv|root)\b", rf"{folder}/\1", block)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.check_output(
        ["bash", "-c", script], cwd=folder, text=True, env={**os.environ, "PATH": path}
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("backup", "srv", "root"):
        (tmp_path / name).mkdir()
    passphrase = tmp_path / "root/passphrase"
    passphrase.write_text(PASSPHRASE)
    passphrase.chmod(0o600)
    return tmp_path


@pytest.mark.full
def test_a_copy_is_made_checked_listed_and_restored(folder: Path):
    fill_site(folder / "site")
    said = follow(find_block("intramural restore"), folder)
    assert "is whole" in said
    assert "nightly" in said
    with Site(folder / "new-site").store() as store:
        assert store.copies.find_restoration() is not None


@pytest.mark.full
def test_the_nightly_commands_keep_the_promise(folder: Path):
    site = fill_site(folder / "srv/site")
    with (site.directory / "site.yaml").open("a") as settings:
        settings.write("keep_texts_days: 90\n")
    old = folder / "backup/2026-01-01.copy"
    old.touch()
    os.utime(old, (0, 0))
    follow(find_block("find /backup"), folder)
    assert len(list((folder / "backup").iterdir())) == 1
    assert not old.exists()
