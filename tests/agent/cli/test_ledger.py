"""`intramural ledger`: what was prepared from which data, and whoever cut, changed or put it back is found out."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.cli.ledger import ledger
from agent.cli.submission import submission
from agent.errors import DisclosureError
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, ok, rows, run
from tests.aggregator.federation import MODELS


@pytest.fixture
def key(site: Site, joined_key: Path) -> Path:
    """The steward's key of a site with two datasets and two models' results, approved."""
    ok(site, submission, "prepare", "--suite", SUITE)
    ok(site, submission, "approve", "--key", joined_key, answer="y\n" * 2)
    return joined_key


def verified(site: Site, *words: object) -> tuple[int, list[dict[str, str]]]:
    result = run(site, ledger, "verify", "--format", "json", *words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, json.loads(result.output)


def head_of(site: Site) -> str:
    return ok(site, ledger, "show").splitlines()[-1].removeprefix("Head: ")


def test_the_ledger_says_what_was_prepared_and_shows_no_fingerprint(site: Site, key: Path) -> None:
    entries = json.loads(ok(site, ledger, "show", "--format", "json"))
    assert [entry["kind"] for entry in entries] == ["dataset", "dataset", "release", "release"]
    assert [entry["benchmark"] for entry in entries[:2]] == ["shc_notes", "aci_bench"]
    assert {entry["model"] for entry in entries[2:]} == {model.name for model in MODELS[:2]}
    assert all(entry["figures"] == 2 for entry in entries[2:])
    first = json.loads((site.submissions / "ledger" / "00000001.json").read_bytes())
    fingerprints = set(first["entry"]["content"]["units"])
    shown = ok(site, ledger, "show", "--format", "json") + ok(site, ledger, "show")
    assert len(fingerprints) > 100
    assert not [fingerprint for fingerprint in fingerprints if fingerprint in shown]


def test_a_whole_ledger_matches_every_statement_and_every_kept_head(site: Site, key: Path) -> None:
    code, found = verified(site, "--head", head_of(site))
    assert code == 0
    assert [row["what"].split()[0] for row in found] == [
        "ledger",
        "dataset",
        "dataset",
        "result",
        "result",
        "head",
    ]


def cut(folder: Path) -> None:
    max(folder.glob("*.json")).unlink()


def drop_one(folder: Path) -> None:
    sorted(folder.glob("*.json"))[1].unlink()


def edit(folder: Path) -> None:
    path = sorted(folder.glob("*.json"))[2]
    path.write_bytes(path.read_bytes().replace(b'"bucket":', b'"bucket":1', 1))


def swap(folder: Path) -> None:
    one, two = sorted(folder.glob("*.json"))[2:4]
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)


@pytest.mark.full
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (drop_one, "the entry after number 1 does not follow"),
        (edit, "damaged, was changed, or was made with another seal key"),
        (swap, "the entry after number 2 does not follow"),
    ],
)
def test_whoever_changes_an_entry_is_found_out(
    site: Site, key: Path, change: Callable[[Path], None], words: str
) -> None:
    change(site.submissions / "ledger")
    for command in ("show", "verify"):
        with pytest.raises(DisclosureError, match=words):
            ok(site, ledger, command)


def test_a_ledger_that_was_cut_is_found_out_by_the_statements_and_by_a_kept_head(
    site: Site, key: Path
) -> None:
    head = head_of(site)
    cut(site.submissions / "ledger")
    code, found = verified(site, "--head", head)
    assert code == 1
    assert [row["what"].split()[0] for row in found if row["outcome"] == "different"] == [
        "result",
        "head",
    ]
    assert "entries 4 to 4 are missing" in found[-1]["finding"]


def test_a_folder_put_back_whole_is_found_out_by_a_kept_head_alone(site: Site, key: Path) -> None:
    """The folder submissions/ is put back as it was before the results, and another figure is prepared."""
    head = head_of(site)
    for row in rows(site, "result"):
        for path in site.submissions.glob(f"{row['digest']}*"):
            path.unlink()
        cut(site.submissions / "ledger")
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)
    assert verified(site)[0] == 0
    code, found = verified(site, "--head", head)
    assert (code, found[-1]["outcome"]) == (1, "different")


@pytest.mark.parametrize("head", ["", "4", "4:", "x:" + "0" * 64, "4:" + "g" * 64, "4:" + "0" * 63])
def test_something_else_is_no_head(tmp_path: Path, head: str) -> None:
    assert run(Site(tmp_path), ledger, "verify", "--head", head).exit_code == 2
