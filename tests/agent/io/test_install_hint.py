"""A message about a missing extra names a command that works on this machine, and never a public registry."""

import json
import sys
from pathlib import Path

import pytest

from agent.io.install_hint import KIT_RECORD, describe_install


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an unpacked kit with the extra `parquet`, from which this environment came."""
    folder = tmp_path / "my kits/intramural-kit-0.1.0"
    folder.mkdir(parents=True)
    (folder / "install.sh").touch()
    environment = tmp_path / "environment"
    environment.mkdir()
    record = {
        "name": folder.name,
        "folder": str(folder),
        "prefix": "/opt/intramural",
        "extras": ["parquet"],
    }
    (environment / KIT_RECORD).write_text(json.dumps(record))
    monkeypatch.setattr(sys, "prefix", str(environment))
    return folder


def test_an_extra_of_the_kit_is_installed_from_the_kit(kit: Path):
    script = kit / "install.sh"
    command = f"sh '{script}' --prefix /opt/intramural --add parquet"
    assert describe_install("parquet") == f"Install it from the kit: {command}"


def test_a_kit_that_was_deleted_is_to_be_unpacked_again(kit: Path):
    (kit / "install.sh").unlink()
    assert describe_install("parquet") == (
        "Unpack intramural-kit-0.1.0 again and run there: sh install.sh --prefix /opt/intramural --add parquet"
    )


def test_an_extra_that_the_kit_lacks_needs_another_kit(kit: Path):
    hint = describe_install("onnx")
    assert "intramural-kit-0.1.0, from which Intramural was installed here, lacks the extra" in hint
    assert "deploy/airgap/build.sh --extras onnx" in hint


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"name": "k", "folder": 3}', "\x00"])
def test_a_damaged_record_of_a_kit_is_no_crash(kit: Path, content: str):
    (Path(sys.prefix) / KIT_RECORD).write_text(content)
    assert "--no-index --find-links wheelhouse 'intramural[parquet]'" in describe_install("parquet")


def test_without_a_kit_the_hint_names_the_clone_and_a_folder_of_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    hint = describe_install("parquet")
    assert "pip install '.[parquet]'" in hint
    assert "pip install --no-index --find-links wheelhouse 'intramural[parquet]'" in hint
