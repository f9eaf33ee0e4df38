"""The manifest lists every file, and holds nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.errors import RedactionError
from agent.exchange.helm.redaction.checking import check_folder
from agent.exchange.helm.redaction.walk import FolderRedactors
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    SUITE,
)


@pytest.mark.full
def test_the_manifest_says_what_is_there_and_what_is_not(clean: Path):
    manifest = json.loads((clean / "redaction.json").read_text())
    assert {entry["path"] for entry in manifest["files"]} == {
        path.relative_to(clean).as_posix()
        for path in clean.rglob("*")
        if path.is_file() and path.parent != clean
    }
    assert manifest["counts"] == {"instances": 3, "runs": 1}
    assert set(manifest["left_out"]) > {
        "files of data sets", "files of cached instances", "files of caches", "logs", "links to files"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("policy", "kowalski 1"),
        ("policy", "hipaa_safe_harbor 84736251"),
        ("counts", {"kowalski": 1}),
        ("counts", {"instances": 84736251, "runs": 1}),
        ("left_out", ["of kowalski"]),
        ("left_out", {"logs": 84736251}),
        ("left_out", ["logs", "logs"]),
        ("withheld", {"too long": 84736251}),
        ("note", "kowalski"),
        ("suites", [SUITE, SUITE]),
    ],
)
def test_a_manifest_that_says_more_than_it_may_is_not_called_clean(
    key: str, value: Any, spoilt: Path, redactors: FolderRedactors
):
    manifest = json.loads((spoilt / "redaction.json").read_text())
    (spoilt / "redaction.json").write_text(json.dumps(manifest | {key: value}, indent=1) + "\n")
    with pytest.raises(RedactionError) as caught:
        check_folder(spoilt, redactors)
    assert "kowalski" not in str(caught.value)


def test_an_entry_of_a_file_that_stands_twice_hides_nothing(
    spoilt: Path, redactors: FolderRedactors
):
    manifest = json.loads((spoilt / "redaction.json").read_text())
    manifest["files"].insert(0, manifest["files"][0] | {"bytes": 84736251})
    (spoilt / "redaction.json").write_text(json.dumps(manifest, indent=1) + "\n")
    with pytest.raises(RedactionError, match="repeated"):
        check_folder(spoilt, redactors)
