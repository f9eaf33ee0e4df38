"""Secrets that others could read are refused, however the service manager hands over its own."""

from pathlib import Path

import pytest

from agent.io.private_modes import is_open_to_others


@pytest.mark.parametrize("mode", [0o100640, 0o100604, 0o100660, 0o100601])
def test_a_file_that_others_can_read_or_change_is_open(tmp_path: Path, mode: int):
    assert is_open_to_others(tmp_path / "secret", mode)
    assert not is_open_to_others(tmp_path / "secret", 0o100600)


def test_a_credential_may_be_read_by_its_group_and_by_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert not is_open_to_others(tmp_path / "secret", 0o100440)
    for mode in (0o100444, 0o100460, 0o100450):
        assert is_open_to_others(tmp_path / "secret", mode)
    for elsewhere in (tmp_path.parent / "secret", tmp_path / "folder" / "secret"):
        assert is_open_to_others(elsewhere, 0o100440)


def test_an_empty_variable_names_no_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "")
    assert is_open_to_others(Path("secret"), 0o100440)
