"""`intramural reset`: machines that were restored, copied or robbed of a key are recognised, and brought back."""

import shutil
from pathlib import Path

import pytest

from agent.cli.enroll import registry, steward_key
from agent.cli.federation import open_federation
from agent.cli.reset import reset
from agent.cli.submission import submission
from agent.cli.submission_context import open_gate, open_outbox
from agent.disclosure.ledger import ResetEntry
from agent.errors import AgentError, ConfigError, DeliveryError, DisclosureError, StoreError
from agent.site.directory import Site
from agent.site.new_keys import adopt_new_agent_key
from aggregator.home import today_day
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.rekeyings import open_request
from aggregator.registry.versions import newest_envelope
from tests.agent.cli.rekeyings import Steward, approve, carry_head, decide, release, shown
from tests.agent.delivery.whole_site import (
    SUITE,
    fill,
    make_site,
    ok,
    rows,
    states,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import CARD, MODELS


def copy_submissions(site: Site, place: Path) -> Path:
    shutil.copytree(site.submissions, place)
    return place


def put_back(site: Site, copy: Path) -> None:
    shutil.rmtree(site.submissions)
    shutil.copytree(copy, site.submissions)


def go_through_a_reset(
    site: Site, served: Served, steward: Steward, key: Path, tmp_path: Path, *words: object
) -> None:
    request = tmp_path / "reset-request"
    ok(site, reset, "request", *words, "--out", request)
    ok(site, reset, "send", steward.sign_request(request, key))
    decide(served)
    assert "this site is enrolled" in ok(site, registry, "update")


def test_a_healthy_machine_has_lost_nothing(site: Site, key: Path) -> None:
    code, text = shown(site)
    assert (code, "Nothing is lost" in text) == (0, True)
    with pytest.raises(AgentError, match="nothing to reset"):
        ok(site, reset, "request", "--reason", "restored", "--out", site.directory / "request")


def test_a_receipt_that_was_lost_on_the_way_is_all_that_is_missing(site: Site, key: Path) -> None:
    """The file of a receipt is gone, and so is the memory that its link ever arrived."""
    (result,) = rows(site, "result")
    (site.submissions / f"{result['digest']}.receipt").unlink()
    assert states(site, "result") == ["sent"]
    assert shown(site)[0] == 0
    assert states(site, "result") == ["receipted"]


@pytest.mark.full
def test_a_restored_machine_is_recognised_and_goes_on_in_a_new_epoch(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    copy = copy_submissions(site, tmp_path / "backup")
    release(site, key, MODELS[1].name)
    put_back(site, copy)
    code, text = shown(site)
    assert code == 1
    assert "Lost here: 1 link and 1 entry of the ledger." in text
    assert "reset request --reason restored" in text

    # Going on as if nothing had happened is refused with a signature, and the refusal says where to look.
    fill(site, "pubmed_qa", "exact_match", MODELS[2].name, right=50, suite="more")
    approve(site, key, MODELS[2].name, "more")
    with pytest.raises(DeliveryError) as refused:
        ok(site, submission, "send")
    assert "reset show" in refused.value.advice

    go_through_a_reset(site, served, steward, key, tmp_path, "--reason", "restored")
    entry = open_gate(site).ledger().entries[-1]
    assert isinstance(entry.content, ResetEntry)
    assert entry.content.lost_from < entry.number
    assert shown(site)[0] == 0
    with pytest.raises(DeliveryError, match="wrong_root") as known:
        release(site, key, MODELS[1].name)
    assert "reported before" in known.value.advice
    for cell in CARD.cells:
        fill(site, cell.benchmark, cell.metric, MODELS[2].name, right=50, suite="later")
    release(site, key, MODELS[2].name, "later")
    last = next(
        row for row in rows(site, "result") if row["epoch"] == 2 and row["state"] == "receipted"
    )
    assert last["seq"] == 1
    # Of the datasets whose entries were lost nothing new leaves: nobody here knows what already has.
    result = open_outbox(site).get(last["digest"]).result
    assert {result.cells[cell.key] for cell in CARD.cells if cell.protected} == {-1}


def test_a_reset_asked_for_twice_is_the_same_bytes_and_one_entry(
    site: Site, key: Path, tmp_path: Path
) -> None:
    copy = copy_submissions(site, tmp_path / "backup")
    release(site, key, MODELS[1].name)
    put_back(site, copy)
    for name in ("first", "second"):
        ok(site, reset, "request", "--reason", "restored", "--out", tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    resets = [
        entry for entry in open_gate(site).ledger().entries if isinstance(entry.content, ResetEntry)
    ]
    assert len(resets) == 1
    # A crash between the ledger's entry and the request leaves the entry alone.
    (site.submissions / "reset.dsse.json").unlink()
    ok(site, reset, "request", "--reason", "restored", "--out", tmp_path / "third")
    assert (tmp_path / "third").read_bytes() == (tmp_path / "first").read_bytes()


def test_two_machines_from_one_image_freeze_the_site_and_one_of_them_brings_it_back(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    shutil.copytree(site.directory, tmp_path / "twin")
    twin = Site(tmp_path / "twin")
    release(site, key, MODELS[1].name)
    fill(twin, "pubmed_qa", "exact_match", MODELS[2].name, right=50, suite="more")
    approve(twin, key, MODELS[2].name, "more")
    with pytest.raises(DeliveryError, match="fork"):
        ok(twin, submission, "send")
    code, text = shown(site)
    assert code == 1
    assert "frozen after a fork" in text
    assert "--reason fork" in text
    go_through_a_reset(site, served, steward, key, tmp_path, "--reason", "fork")
    assert shown(site)[0] == 0
    # Nothing was lost on the machine that stays, so its figures still leave; the other one learns of the new epoch.
    fill(site, "shc_notes", "exact_match", MODELS[2].name, right=50, suite="later")
    release(site, key, MODELS[2].name, "later")
    last = open_outbox(site).get(rows(site, "result")[-1]["digest"])
    assert last.result.cells["shc_notes/exact_match"] >= 0
    with pytest.raises(DeliveryError, match="a later epoch for this site"):
        ok(twin, reset, "show")


def test_a_lost_agents_key_is_replaced_through_a_reset(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    (site.keys / "agent.key").unlink()
    with pytest.raises(StoreError, match="agent key is missing"):
        ok(site, submission, "prepare", "--suite", SUITE)
    by_file = ("--head", carry_head(site, served))
    with pytest.raises(AgentError, match="agent key is missing"):
        ok(
            site,
            reset,
            "request",
            "--reason",
            "lost_agent_key",
            *by_file,
            "--out",
            tmp_path / "none",
        )
    words: tuple[object, ...] = ("--reason", "lost_agent_key", "--new-agent-key")
    with pytest.raises(ConfigError, match="no agent key that the registry names") as untold:
        ok(site, reset, "request", *words, "--out", tmp_path / "none")
    assert "intramural-aggregator head" in untold.value.advice
    words = (*words, "--head", carry_head(site, served))
    go_through_a_reset(site, served, steward, key, tmp_path, *words)
    assert not (site.keys / "agent.key.new").exists()
    release(site, key, MODELS[1].name)
    last = rows(site, "result")[-1]
    assert (last["epoch"], last["state"]) == (2, "receipted")
    assert (
        open_outbox(site).get(last["digest"]).result.cells["shc_notes/exact_match"] >= 0
    )  # nothing was lost


def test_a_lost_stewards_key_is_replaced_and_the_old_one_approves_nothing(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    new = tmp_path / "new-steward.key"
    ok(site, steward_key, "--out", new)
    words = ("--reason", "lost_steward_key", "--steward-public", f"{new}.pub")
    go_through_a_reset(site, served, steward, new, tmp_path, *words)
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)
    with pytest.raises(DisclosureError, match="not a steward's key of this site"):
        ok(site, submission, "approve", "--key", key, answer="y\n")
    ok(site, submission, "approve", "--key", new, answer="y\n")
    ok(site, submission, "send")
    assert states(site, "result")[-1] == "receipted"


def test_a_key_is_in_place_only_once_the_registry_names_it_whenever_the_power_goes(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    before = (site.keys / "agent.key").read_bytes()
    request = tmp_path / "request"
    ok(site, reset, "request", "--reason", "stolen_key", "--new-agent-key", "--out", request)
    ok(site, reset, "send", steward.sign_request(request, key))
    ok(site, registry, "update")
    assert (site.keys / "agent.key").read_bytes() == before
    decide(served)
    # The registry is taken, and the power goes before the key is in place.
    federation = open_federation(site)
    with served.home.database.reading() as connection:
        taken = federation.take(newest_envelope(connection), today_day())
    assert (site.keys / "agent.key").read_bytes() == before
    assert "in force and installed" in ok(site, registry, "update")
    assert (site.keys / "agent.key").read_bytes() != before
    assert adopt_new_agent_key(site.keys, taken, federation.read_membership().site) is False
    release(site, key, MODELS[1].name)


@pytest.mark.full
def test_a_damaged_ledger_is_set_aside_and_counts_for_nothing_before_the_reset_is_in_force(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    entries = sorted((site.submissions / "ledger").glob("*.json"))
    entries[1].write_bytes(entries[1].read_bytes().replace(b'"day":', b'"dax":'))
    code, text = shown(site)
    assert (code, "cannot be read" in text) == (1, True)
    request = tmp_path / "request"
    with pytest.raises(DisclosureError, match="ledger of releases"):
        ok(site, reset, "request", "--reason", "restored", "--out", request)
    for name in ("request", "again"):
        ok(site, reset, "request", "--reason", "restored", "--new-ledger", "--out", tmp_path / name)
    aside = sorted(site.submissions.glob("ledger-set-aside-*"))
    assert len(list(aside[0].glob("*.json"))) == len(entries)
    with pytest.raises(DisclosureError, match="restarted by a reset that is not in force"):
        ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)
    ok(site, reset, "send", steward.sign_request(tmp_path / "again", key))
    decide(served)
    ok(site, registry, "update")
    assert shown(site)[0] == 0
    with pytest.raises(DisclosureError, match="not registered"):
        ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)


@pytest.mark.full
def test_another_reset_than_the_one_made_here_is_not_sent(
    site: Site, key: Path, steward: Steward, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    words = ("--reason", "stolen_key", "--new-agent-key", "--out")
    ok(site, reset, "request", *words, one)
    signed = steward.sign_request(one, key)
    with pytest.raises(DisclosureError, match="1 signatures; it must have those of exactly 2 keys"):
        ok(site, reset, "send", one)
    ok(site, reset, "request", "--reason", "lost_agent_key", "--new-agent-key", "--out", two)
    with pytest.raises(DisclosureError, match="not the request that was made here"):
        ok(site, reset, "send", signed)


@pytest.mark.full
def test_a_site_without_a_network_goes_through_a_reset_with_files(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    words = (
        "--reason",
        "stolen_key",
        "--new-agent-key",
        "--head",
        carry_head(site, served),
        "--out",
        tmp_path / "request",
    )
    ok(site, reset, "request", *words)
    signed = steward.sign_request(tmp_path / "request", key)
    ok(site, reset, "send", signed, "--out", tmp_path / "carried")
    with served.home.database.writing() as connection:
        asked = open_request(connection, (tmp_path / "carried").read_bytes())
        change_now(connection, served.home, Changes(rekeyings=[asked]), today_day=today_day())
    with served.home.database.reading() as connection:
        (tmp_path / "registry").write_bytes(newest_envelope(connection))
    assert "in force and installed" in ok(
        site, registry, "update", "--import", tmp_path / "registry"
    )
    # The word of before the reset is outdated now.
    with pytest.raises(DeliveryError, match="older than the log that this site has seen"):
        ok(site, reset, "show", "--head", tmp_path / "carried-head")


def test_before_enrolment_a_reset_says_what_is_missing(site: Site, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="has not been enrolled"):
        ok(site, reset, "show")


@pytest.mark.full
def test_a_site_whose_seal_key_is_lost_is_made_anew_and_takes_its_old_place(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    (site.keys / "seal.key").unlink()
    with pytest.raises(StoreError, match="seal key is missing"):
        ok(site, submission, "prepare", "--suite", SUITE)
    made = make_site(tmp_path / "made-anew")
    shutil.copy(site.submissions / "membership.json", made.submissions)
    shutil.copytree(site.submissions / "registry", made.submissions / "registry")
    by_file = ("--head", carry_head(site, served))
    code, text = shown(made, *by_file)
    assert (code, "Lost here: 3 links and up to 3 entries" in text) == (1, True)
    go_through_a_reset(made, served, steward, key, tmp_path, "--reason", "lost_agent_key", *by_file)
    assert shown(made)[0] == 0
    (entry,) = open_gate(made).ledger().entries
    assert (entry.number, entry.kind) == (4, "reset")
    fill(made, "pubmed_qa", "exact_match", MODELS[2].name, right=50, suite="public")
    release(made, key, MODELS[2].name, "public")
    assert [(row["epoch"], row["state"]) for row in rows(made)] == [(2, "receipted")]
