"""A real site and a real aggregator process: enrolment to receipt by the commands, and every byte searched for text."""

import base64
import json
import stat
from pathlib import Path

import pytest

from agent.cli.enroll import enroll, registry, steward_key
from agent.cli.submission import submission
from agent.errors import ConfigError
from agent.site.directory import Site
from aggregator.home import today_day
from aggregator.registry import invites
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.versions import newest_envelope
from tests.agent.delivery.whole_site import (
    CANARY,
    SUITE,
    Wire,
    drafts,
    join,
    ok,
    register_datasets,
    rows,
    states,
    write_invite,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import MODELS


@pytest.mark.full
def test_from_invite_to_receipt_no_text_of_a_case_is_written_or_sent(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    output = ok(site, submission, "prepare", "--suite", SUITE)
    pages = drafts(site)
    assert len(pages) == 2
    output += ok(site, submission, "show")
    for page in pages:
        output += ok(
            site, submission, "approve", "--key", key, "--yes", "--digest", page["digest"][:8]
        )
    output += ok(site, submission, "send")
    results = rows(site, "result")
    assert [(row["seq"], row["state"]) for row in results] == [(3, "receipted"), (4, "receipted")]
    assert {row["model"] for row in results} == {model.name for model in MODELS[:2]}
    assert states(site, "dataset") == ["receipted"] * 2

    # The same release again: nothing new is made, nothing is sent.
    before = len(wire.bytes)
    assert "True" not in ok(site, submission, "prepare", "--suite", SUITE)
    assert "Nothing is waiting" in ok(site, submission, "send")
    assert len(wire.bytes) == before

    with site.store() as store:
        events = [(event.event, event.detail) for event in store.audit.read_events()]
    assert [event for event, _ in events if event == "submission approved"] == [
        "submission approved"
    ] * 4
    # The log, which stays at the site, names the suite: by it the authors of a result are found.
    assert all(CANARY not in detail.replace(f"suite={SUITE} ", "") for _, detail in events)

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
                for found in store.scores.read_units(
                    store.runs.select(SUITE)[0].run_id, "exact_match"
                )[:5]:
                    assert found.unit_key.hex().encode() not in content
                    assert found.instance_key.hex().encode() not in content
    assert seen > 10
    assert not list(site.submissions.glob(".new-*"))


def test_a_site_without_a_network_does_everything_with_files(
    site: Site, served: Served, tmp_path: Path
) -> None:
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
    with pytest.raises(ConfigError, match="lacks the aggregator's address"):
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
