"""A steward lets drafts out, or does not: here, with a tool of their own, and never by accident."""

import json
from pathlib import Path

import pytest

from agent.cli.enroll import steward_key
from agent.cli.submission import submission
from agent.errors import DisclosureError
from agent.site.directory import Site
from tests.agent.delivery.whole_site import (
    CANARY,
    SUITE,
    as_steward,
    drafts,
    ok,
    rows,
    run,
    states,
)
from tests.aggregator.federation import MODELS


def test_saying_no_leaves_everything_as_it_was(site: Site, joined_key: Path) -> None:
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    before = sorted(
        (path.name, path.read_bytes()) for path in site.submissions.rglob("*") if path.is_file()
    )
    result = run(site, submission, "approve", "--key", joined_key, answer="n\n")
    assert result.exit_code == 1
    assert "Let these bytes leave the site" in result.output
    assert result.output.endswith("Not approved; nothing was changed.\n")
    assert (
        sorted(
            (path.name, path.read_bytes()) for path in site.submissions.rglob("*") if path.is_file()
        )
        == before
    )
    assert "approved" in ok(site, submission, "approve", "--key", joined_key, answer="y\n")


def test_a_wrong_key_is_refused_before_anything_is_read_or_asked(
    site: Site, joined_key: Path, tmp_path: Path
) -> None:
    del joined_key
    ok(site, submission, "prepare", "--suite", SUITE)
    stranger = tmp_path / "stranger.key"
    ok(site, steward_key, "--out", stranger)
    result = run(site, submission, "approve", "--key", stranger, answer="y\n")
    assert isinstance(result.exception, DisclosureError)
    assert "not a steward's key of this site" in str(result.exception)
    assert "Let these bytes leave" not in result.output


@pytest.mark.full
def test_the_steward_approves_with_a_tool_of_their_own(
    site: Site, joined_key: Path, tmp_path: Path
) -> None:
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    ok(site, submission, "prepare", "--suite", SUITE)
    request, signed = tmp_path / "request", tmp_path / "signed"
    told = ok(site, submission, "approve", "--out", request)
    assert "2 drafts written" in told
    assert "intramural-steward approve request --key KEY --out SIGNED" in told
    assert CANARY.encode() not in request.read_bytes()
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    shown = as_steward(
        "approve", request, "--key", joined_key, "--out", signed, *listed, answer="y\ny\n"
    )
    for page in drafts(site):
        for figure in page["figures"]:
            assert figure["meaning"] in " ".join(shown.split())
    assert states(site, "result") == ["prepared"] * 2
    assert ok(site, submission, "approve", "--signed", signed).count("approved") == 2
    ok(site, submission, "approve", "--signed", signed)  # again: nothing changes
    ok(site, submission, "send")
    assert states(site) == ["receipted"] * 4


def test_what_the_steward_rejects_is_discarded_with_the_reason_on_the_screen(
    site: Site, joined_key: Path, tmp_path: Path
) -> None:
    del joined_key
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    ok(site, submission, "prepare", "--suite", SUITE)
    first, second = (page["digest"] for page in drafts(site))
    request, rejected = tmp_path / "request", tmp_path / "rejected"
    ok(site, submission, "approve", "--out", request)
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    as_steward(
        "reject", request, "--reason", "too_much", "--out", rejected, "--digest", second, *listed
    )
    told = ok(site, submission, "approve", "--rejected", rejected)
    assert told == f"The steward rejected 1 draft: it reveals too much.\ndiscarded {second}\n"
    assert [row["digest"] for row in rows(site, "result")] == [first]
    again = ok(site, submission, "approve", "--rejected", rejected)
    assert f"{second}: no such draft here" in again


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--signed", "s", "--key", "k"],
        ["--signed", "s", "--out", "o"],
        ["--signed", "s", "--rejected", "r"],
        ["--signed", "s", "--digest", "d"],
        ["--key", "k", "--out", "o"],
        ["--key", "k", "--rejected", "r"],
    ],
)
def test_ways_of_approving_do_not_mix(tmp_path: Path, words: list[str]) -> None:
    result = run(Site(tmp_path), submission, "approve", *words)
    assert (result.exit_code, "cannot be combined" in result.output) == (2, True)


def test_yes_needs_the_digest_of_what_was_read(site: Site, joined_key: Path) -> None:
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    assert run(site, submission, "approve", "--key", joined_key, "--yes").exit_code == 2
    for digest in ("0" * 8, "abc"):
        with pytest.raises(DisclosureError):
            ok(site, submission, "approve", "--key", joined_key, "--yes", "--digest", digest)
    with pytest.raises(DisclosureError, match="agent's key"):
        ok(site, submission, "approve", "--key", site.keys / "agent.key", answer="y\n")
    assert states(site, "result") == ["prepared"]
