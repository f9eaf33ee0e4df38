"""The same source gives the same wheel and source distribution, wherever and whenever it is built."""

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from intramural_release.distributions import build_distributions, read_epoch
from intramural_release.errors import ReleaseError
from intramural_release.wheel_files import hash_file, read_metadata

ROOT = Path(__file__).parents[2]
EPOCH = 1_790_000_000


def copy_source(target: Path, mode: int, modified_at: int) -> Path:
    """Copy the files that git knows, with other permissions and times."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in reversed(done.stdout.rstrip("\0").split("\0")):
        path = target / name
        if not (ROOT / name).is_file():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / name).read_bytes())
        path.chmod(mode)
        os.utime(path, (modified_at, modified_at))
    return target


@pytest.mark.parametrize("project", ["", "deploy/steward"])
def test_two_builds_in_other_folders_at_other_times_have_the_same_bytes(
    tmp_path: Path, project: str
):
    first = copy_source(tmp_path / "a", 0o644, 1_700_000_000) / project
    second = copy_source(tmp_path / "elsewhere/deeper/b", 0o600, 1_750_000_000) / project
    built = [
        {path.name: hash_file(path) for path in build_distributions(source, target, EPOCH)}
        for source, target in ((first, tmp_path / "one"), (second, tmp_path / "two"))
    ]
    assert built[0] == built[1]
    assert len(built[0]) == 2


def test_the_wheel_states_its_name_and_contains_no_test(tmp_path: Path):
    source = copy_source(tmp_path / "source", 0o644, 1_700_000_000)
    wheel, archive = build_distributions(source, tmp_path / "built", EPOCH)
    assert read_metadata(wheel)["Name"] == "intramural"
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert not [name for name in names if name.startswith(("tests/", "deploy/"))]
    with tarfile.open(archive) as file:
        assert {member.mtime for member in file.getmembers()} == {EPOCH}


def test_without_a_time_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ReleaseError, match="time of the release"):
        read_epoch(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    assert read_epoch(tmp_path) == EPOCH
