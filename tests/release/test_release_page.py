"""docs/release.md: the ceremony's commands, typed as they stand there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/release.md"
pytestmark = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed"
)


def read_commands(heading: str) -> list[str]:
    """Return the lines of shell under a heading."""
    section = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^ *```\n(.*?)^ *```$", section, re.DOTALL | re.MULTILINE)
    return [line.strip() for block in blocks for line in block.splitlines()]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which ssh-keygen gets a passphrase without a terminal."""
    answer = tmp_path / "answer"
    answer.write_text("#!/bin/sh\necho half-of-one-half-of-the-other\n")
    answer.chmod(0o755)
    return {
        **os.environ,
        "SSH_ASKPASS": str(answer),
        "SSH_ASKPASS_REQUIRE": "force",
        "DISPLAY": ":9",
    }


def type_command(command: str, folder: Path, environment: dict[str, str]) -> int:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        start_new_session=True,
        timeout=60,
    )
    return done.returncode


def test_the_ceremony_and_the_check_of_a_release_work_as_written(
    tmp_path: Path, environment: dict[str, str]
):
    for command in read_commands("The key"):
        assert type_command(command, tmp_path, environment) == 0, command
    assert "ENCRYPTED" not in (tmp_path / "signers").read_text()
    assert "intramural-release namespaces" in (tmp_path / "signers").read_text()

    (tmp_path / "intramural.whl").write_bytes(b"wheel")
    for command in (
        "sha256sum intramural.whl > SHA256SUMS",
        "ssh-keygen -Y sign -f release-key -n intramural-release SHA256SUMS",
    ):
        assert type_command(command, tmp_path, environment) == 0, command
    checks = read_commands("Verifying a release")
    assert [type_command(command, tmp_path, environment) for command in checks] == [0, 0]

    (tmp_path / "intramural.whl").write_bytes(b"forged")
    assert [type_command(command, tmp_path, environment) for command in checks] == [0, 1]
    assert type_command("sha256sum intramural.whl > SHA256SUMS", tmp_path, environment) == 0
    assert type_command(checks[0], tmp_path, environment) != 0


def test_the_page_names_targets_and_files_that_exist():
    text = PAGE.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"(?:`|^ {3})make ([a-z-]+)", text, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in set(re.findall(r"`((?:deploy|tests|docs)/[\w./-]+)`", text)):
        assert (ROOT / path).exists(), path
