"""A real site and a real aggregator process: enrolment to receipt by the commands, and every byte searched for text."""

import base64
import json
import socket
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from agent.cli.enroll import enroll, registry, steward_key
from agent.cli.submission import submission
from agent.errors import AgentError, ConfigError, DeliveryError, DisclosureError
from agent.site.directory import Site, create_site
from aggregator.home import today_day
from aggregator.registry import invites
from aggregator.registry.changes import Additions, apply
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.versions import newest_envelope, newest_registry, sign_next
from tests.agent.delivery.whole_site import (
    CANARY,
    SUITE,
    Wire,
    approve_at_the_aggregator,
    as_steward,
    drafts,
    fill,
    join,
    ok,
    register_datasets,
    rows,
    run,
    states,
    write_invite,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import CARD, MODELS


def test_from_invite_to_receipt_no_text_of_a_case_is_written_or_sent(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    output = ok(site, submission, "prepare", "--suite", SUITE)
    pages = drafts(site)
    assert len(pages) == 2
    output += ok(site, submission, "show")
    for page in pages:
        output += ok(site, submission, "approve", "--key", key, "--yes", "--digest", page["digest"][:8])
    output += ok(site, submission, "send")
    results = rows(site, "result")
    assert [(row["seq"], row["state"]) for row in results] == [(3, "receipted"), (4, "receipted")]
    assert {row["model"] for row in results} == {model.name for model in MODELS[:2]}
    assert states(site, "dataset") == ["receipted"] * 2

    # The same release again: nothing new is made, nothing is sent.
    before = len(wire.bytes)
    assert "True" not in ok(site, submission, "prepare", "--suite", SUITE)
    assert "Nothing waits" in ok(site, submission, "send")
    assert len(wire.bytes) == before

    with site.store() as store:
        events = [(event.event, event.detail) for event in store.audit.read_events()]
    assert [event for event, _ in events if event == "submission approved"] == ["submission approved"] * 4
    assert all(CANARY not in detail for _, detail in events)

    assert CANARY not in output
    assert CANARY.encode() not in bytes(wire.bytes)
    seen = 0
    for path in site.submissions.rglob("*"):
        assert CANARY not in path.name
        if path.is_file():
            seen += 1
            content = path.read_bytes()
            if path.name.endswith(".verdicts.json"):
                # It stays at the site, and names the suite, so that an audit finds the runs again.
                content = content.replace(SUITE.encode(), b"")
            assert CANARY.encode() not in content, path.name
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
            if path.name.endswith(".dsse.json"):
                assert CANARY.encode() not in base64.b64decode(json.loads(content)["payload"])
            # Nor the store's own keyed hashes: they would tie a submission to records.
            with site.store() as store:
                for found in store.scores.read_units(store.runs.select(SUITE)[0].run_id, "exact_match")[:5]:
                    assert found.unit_key.hex().encode() not in content
                    assert found.instance_key.hex().encode() not in content
    assert seen > 10
    assert not list(site.submissions.glob(".new-*"))


def test_the_second_link_sent_first_is_held_back_and_both_arrive_later(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE)
    for page in drafts(site):
        ok(site, submission, "approve", "--key", key, "--yes", "--digest", page["digest"])
    before = len(wire.bytes)
    with pytest.raises(DeliveryError, match="comes after"):
        ok(site, submission, "send", "--digest", rows(site)[1]["digest"])
    assert len(wire.bytes) == before
    ok(site, submission, "send")
    assert [(row["seq"], row["state"]) for row in rows(site)] == [(n, "receipted") for n in (1, 2, 3, 4)]


def test_the_steward_may_keep_the_key_on_another_machine(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key, invite = tmp_path / "steward.key", write_invite(served.home, tmp_path / "invite.json", wire.url)
    nowhere = Site(tmp_path / "no-site-at-all")
    made = ok(nowhere, steward_key, "--out", key)
    half, signed = tmp_path / "half.json", tmp_path / "signed.json"
    ok(site, enroll, "--invite", invite, "--steward-public", f"{key}.pub", "--out", half)
    shown = ok(nowhere, enroll, "--request", half, "--steward-key", key, "--out", signed)
    fingerprint = made.split("fingerprint ")[1].strip()
    assert fingerprint in shown
    ok(site, enroll, "--invite", invite, "--request", signed)
    approve_at_the_aggregator(served.home)
    assert "is enrolled" in ok(site, registry, "update")
    assert fingerprint in ok(site, registry, "show")


def test_a_site_without_a_network_does_everything_with_files(site: Site, served: Served, tmp_path: Path) -> None:
    key, request = tmp_path / "steward.key", tmp_path / "request.json"
    ok(site, steward_key, "--out", key)
    invite = write_invite(served.home, tmp_path / "invite.json", "https://unreachable.example")
    ok(site, enroll, "--invite", invite, "--steward-key", key, "--out", request)
    with served.home.database.writing() as connection:
        asked = invites.open_request(connection, request.read_bytes(), today_day=today_day())
        change_now(connection, served.home, Changes(enrolments=[asked]), today_day=today_day())
    with served.home.database.reading() as connection:
        (tmp_path / "registry.json").write_bytes(newest_envelope(connection))
    ok(site, registry, "update", "--import", tmp_path / "registry.json")
    register_datasets(site)
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    ok(site, submission, "approve", "--key", key, answer="y\n" * 3)
    with pytest.raises(ConfigError, match="no address of the aggregator"):
        ok(site, submission, "send")
    stick = tmp_path / "stick"
    stick.mkdir()
    ok(site, submission, "send", "--export", stick)
    for row in rows(site):
        answer = served.post((stick / f"{row['digest']}.dsse.json").read_bytes())
        assert answer.status_code == 200
        (tmp_path / "receipt").write_text(answer.json()["receipt"])
        assert "receipted" in ok(site, submission, "send", "--import-receipt", tmp_path / "receipt")
    assert states(site) == ["receipted"] * 3


def test_a_second_site_with_a_used_invite_keeps_nothing_of_it_and_takes_a_new_one(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    late = create_site(tmp_path / "late", "Late hospital")
    with pytest.raises(DeliveryError, match="refused") as caught:
        ok(late, enroll, "--invite", tmp_path / "invite.json", "--steward-key", key)
    assert "used or has expired" in caught.value.advice
    assert not [path for path in late.submissions.rglob("*") if path.is_file()]
    with pytest.raises(ConfigError, match="has not been enrolled"):
        ok(late, registry, "update")
    own = tmp_path / "own.key"
    ok(late, steward_key, "--out", own)
    invite = write_invite(served.home, tmp_path / "second.json", wire.url)
    ok(late, enroll, "--invite", invite, "--steward-key", own)
    assert "not yet enrolled" in ok(late, registry, "update")
    approve_at_the_aggregator(served.home)
    assert "this site is enrolled" in ok(late, registry, "update")


def test_another_sites_entry_is_not_taken_for_ones_own(site: Site, served: Served, wire: Wire, tmp_path: Path) -> None:
    """By files nobody is told of the refusal: only the registry shows that the invite was used by another."""
    join(site, served, wire, tmp_path)
    late, key = create_site(tmp_path / "late", "Late hospital"), tmp_path / "late.key"
    ok(late, steward_key, "--out", key)
    invite = tmp_path / "invite.json"
    ok(late, enroll, "--invite", invite, "--steward-key", key, "--out", tmp_path / "request")
    with served.home.database.reading() as connection:
        (tmp_path / "registry.json").write_bytes(newest_envelope(connection))
    assert "is not enrolled" in ok(late, registry, "update", "--import", tmp_path / "registry.json")
    rows = json.loads(ok(late, registry, "show", "--format", "json"))
    assert not [row for row in rows if row["kind"].endswith(" key")]
    assert "with other keys" in next(row["name"] for row in rows if row["kind"] == "site")


def test_enrolling_an_enrolled_site_again_takes_nothing_from_it(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key, invite = tmp_path / "steward.key", write_invite(served.home, tmp_path / "invite.json", wire.url)
    ok(site, steward_key, "--out", key)
    for _ in range(2):
        ok(site, enroll, "--invite", invite, "--steward-key", key)
    approve_at_the_aggregator(served.home)
    with pytest.raises(ConfigError, match="is enrolled already"):  # before it took the registry that says so
        ok(site, enroll, "--invite", invite, "--steward-key", key)
    assert "this site is enrolled" in ok(site, registry, "update")


def test_saying_no_leaves_everything_as_it_was(site: Site, served: Served, wire: Wire, tmp_path: Path) -> None:
    key = join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    before = sorted((path.name, path.read_bytes()) for path in site.submissions.rglob("*") if path.is_file())
    result = run(site, submission, "approve", "--key", key, answer="n\n")
    assert result.exit_code == 1
    assert "Let these bytes leave the site" in result.output
    assert result.output.endswith("Not approved; nothing was changed.\n")
    assert sorted((path.name, path.read_bytes()) for path in site.submissions.rglob("*") if path.is_file()) == before
    assert "approved" in ok(site, submission, "approve", "--key", key, answer="y\n")


def test_a_wrong_key_is_refused_before_anything_is_read_or_asked(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE)
    stranger = tmp_path / "stranger.key"
    ok(site, steward_key, "--out", stranger)
    result = run(site, submission, "approve", "--key", stranger, answer="y\n")
    assert isinstance(result.exception, DisclosureError)
    assert "not a steward's key of this site" in str(result.exception)
    assert "Let these bytes leave" not in result.output


def test_the_steward_approves_with_a_tool_of_their_own(site: Site, served: Served, wire: Wire, tmp_path: Path) -> None:
    key = join(site, served, wire, tmp_path)
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    ok(site, submission, "prepare", "--suite", SUITE)
    request, signed = tmp_path / "request", tmp_path / "signed"
    told = ok(site, submission, "approve", "--out", request)
    assert "2 drafts written" in told
    assert "intramural-steward approve request --key KEY --out SIGNED" in told
    assert CANARY.encode() not in request.read_bytes()
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    shown = as_steward("approve", request, "--key", key, "--out", signed, *listed, answer="y\ny\n")
    for page in drafts(site):
        for figure in page["figures"]:
            assert figure["meaning"] in " ".join(shown.split())
    assert states(site, "result") == ["prepared"] * 2
    assert ok(site, submission, "approve", "--signed", signed).count("approved") == 2
    ok(site, submission, "approve", "--signed", signed)  # again: nothing changes
    ok(site, submission, "send")
    assert states(site) == ["receipted"] * 4


def test_what_the_steward_rejects_is_discarded_with_the_reason_on_the_screen(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    ok(site, submission, "prepare", "--suite", SUITE)
    first, second = (page["digest"] for page in drafts(site))
    request, rejected = tmp_path / "request", tmp_path / "rejected"
    ok(site, submission, "approve", "--out", request)
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    as_steward("reject", request, "--reason", "too_much", "--out", rejected, "--digest", second, *listed)
    told = ok(site, submission, "approve", "--rejected", rejected)
    assert told == f"The steward rejected 1 draft: it tells too much.\ndiscarded {second}\n"
    assert [row["digest"] for row in rows(site, "result")] == [first]
    again = ok(site, submission, "approve", "--rejected", rejected)
    assert f"no draft here (any more): {second}" in again


def test_a_draft_is_discarded_with_those_after_it_and_what_was_approved_is_not(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE)
    first, second = (page["digest"] for page in drafts(site))
    request, signed = tmp_path / "request", tmp_path / "signed"
    ok(site, submission, "approve", "--out", request)
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    as_steward("approve", request, "--key", key, "--out", signed, *listed, answer="y\ny\n")
    assert ok(site, submission, "discard", "--digest", first[:8]) == f"discarded {first}\ndiscarded {second}\n"
    assert rows(site, "result") == []
    with pytest.raises(DisclosureError, match="no submission with this digest"):
        ok(site, submission, "approve", "--signed", signed)
    with site.store() as store:
        events = [(event.event, event.detail) for event in store.audit.read_events()]
    assert sorted(events[-2:]) == sorted(("submission discarded", f"digest={digest}") for digest in (first, second))
    ok(site, submission, "prepare", "--suite", SUITE)
    ok(site, submission, "approve", "--signed", signed)  # the same bytes as before
    with pytest.raises(DisclosureError, match="is approved, no draft"):
        ok(site, submission, "discard", "--digest", first)


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
    assert (result.exit_code, "do not go together" in result.output) == (2, True)


def test_yes_needs_the_digest_of_what_was_read(site: Site, served: Served, wire: Wire, tmp_path: Path) -> None:
    key = join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    assert run(site, submission, "approve", "--key", key, "--yes").exit_code == 2
    for digest in ("0" * 8, "abc"):
        with pytest.raises(DisclosureError):
            ok(site, submission, "approve", "--key", key, "--yes", "--digest", digest)
    with pytest.raises(DisclosureError, match="agent's key"):
        ok(site, submission, "approve", "--key", site.keys / "agent.key", answer="y\n")
    assert states(site, "result") == ["prepared"]


def test_nothing_is_sent_without_approval(site: Site, served: Served, wire: Wire, tmp_path: Path) -> None:
    join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    before = len(wire.bytes)
    (page,) = drafts(site)
    ok(site, submission, "send")  # the datasets
    before = len(wire.bytes)
    assert "Nothing waits" in ok(site, submission, "send")
    with pytest.raises(DisclosureError, match="is prepared, so it cannot be sent"):
        ok(site, submission, "send", "--digest", page["digest"])
    with pytest.raises(DisclosureError, match="is prepared, so it cannot be sent"):
        ok(site, submission, "send", "--digest", page["digest"], "--export", tmp_path / "out")
    assert len(wire.bytes) == before
    assert not (tmp_path / "out").exists()


def test_before_enrolment_every_command_says_what_is_missing(site: Site) -> None:
    for words in (["prepare", "--suite", SUITE], ["show"]):
        with pytest.raises(AgentError, match="has not been enrolled"):
            ok(site, submission, *words)
    assert json.loads(ok(site, submission, "status", "--format", "json")) == []


def test_where_nobody_answers_the_command_to_try_again_is_the_one_that_was_given(
    site: Site, served: Served, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    invite = write_invite(served.home, tmp_path / "invite.json", url)
    key = tmp_path / "steward.key"
    ok(site, steward_key, "--out", key)
    for said, command, words in (
        ("enroll", enroll, ("--invite", invite, "--steward-key", key)),
        ("registry update", registry, ("update",)),
    ):
        error = run(site, command, *words).exception
        assert isinstance(error, DeliveryError)
        assert url in str(error)
        assert f"Try `intramural {said}` again" in error.advice
        assert "submission" not in error.advice


def test_outside_a_site_nothing_happens(tmp_path: Path) -> None:
    for command, words in ((submission, ["status"]), (submission, ["send"]), (registry, ["update"])):
        with pytest.raises(ConfigError, match="not a site directory"):
            ok(Site(tmp_path), command, *words)
    assert list(tmp_path.iterdir()) == []


def test_a_public_benchmark_on_data_of_the_hospitals_own_counts_as_private(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    fill(site, "pubmed_qa", "exact_match", MODELS[0].name, right=50, suite="own", known="unknown")
    with pytest.raises(DisclosureError, match="pubmed_qa: its access level is private here"):
        ok(site, submission, "prepare", "--suite", "own")


def test_without_any_registered_scorecard_the_central_team_is_asked(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    with served.home.database.writing() as connection:
        retired = apply(newest_registry(connection), Additions(retired=[CARD.name]))
        sign_next(connection, replace(retired, version=retired.version + 1), [served.home.root_signer(retired)])
    ok(site, registry, "update")
    with pytest.raises(ConfigError, match="no scorecard is registered") as caught:
        ok(site, submission, "prepare", "--suite", SUITE)
    assert "central team" in caught.value.advice


def test_scores_by_other_rules_are_not_submitted(site: Site, served: Served, wire: Wire, tmp_path: Path) -> None:
    join(site, served, wire, tmp_path)
    fill(site, "pubmed_qa", "exact_match", MODELS[0].name, right=50, suite="helm", scoring="helm")
    with pytest.raises(DisclosureError, match="scored by helm's rules"):
        ok(site, submission, "prepare", "--suite", "helm")
    with pytest.raises(ConfigError, match="no suite default"):
        ok(site, submission, "prepare")
    with pytest.raises(ConfigError, match="no runs of example/none"):
        ok(site, submission, "prepare", "--suite", SUITE, "--model", "example/none")
    with pytest.raises(ConfigError, match="no such scorecard"):
        ok(site, submission, "prepare", "--suite", SUITE, "--scorecard", "other")
