"""What `submission` prepares, refuses, shows and discards."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.cli.enroll import registry
from agent.cli.submission import submission
from agent.errors import AgentError, ConfigError, DisclosureError
from agent.site.directory import Site
from aggregator.registry.changes import Additions, apply
from aggregator.registry.versions import newest_registry, sign_next
from tests.agent.delivery.whole_site import (
    SUITE,
    as_steward,
    drafts,
    fill,
    ok,
    rows,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import CARD, MODELS


@pytest.mark.full
def test_a_draft_is_discarded_with_those_after_it_and_what_was_approved_is_not(
    site: Site, joined_key: Path, tmp_path: Path
) -> None:
    ok(site, submission, "prepare", "--suite", SUITE)
    first, second = (page["digest"] for page in drafts(site))
    request, signed = tmp_path / "request", tmp_path / "signed"
    ok(site, submission, "approve", "--out", request)
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    as_steward("approve", request, "--key", joined_key, "--out", signed, *listed, answer="y\ny\n")
    assert (
        ok(site, submission, "discard", "--digest", first[:8])
        == f"discarded {first}\ndiscarded {second}\n"
    )
    assert rows(site, "result") == []
    with pytest.raises(DisclosureError, match="no submission with this digest"):
        ok(site, submission, "approve", "--signed", signed)
    with site.store() as store:
        events = [(event.event, event.detail) for event in store.audit.read_events()]
    assert sorted(events[-2:]) == sorted(
        ("submission discarded", f"digest={digest}") for digest in (first, second)
    )
    ok(site, submission, "prepare", "--suite", SUITE)
    ok(site, submission, "approve", "--signed", signed)  # the same bytes as before
    with pytest.raises(DisclosureError, match="is approved, not a draft"):
        ok(site, submission, "discard", "--digest", first)


def test_before_enrolment_every_command_says_what_is_missing(site: Site) -> None:
    for words in (["prepare", "--suite", SUITE], ["show"]):
        with pytest.raises(AgentError, match="has not been enrolled"):
            ok(site, submission, *words)
    assert json.loads(ok(site, submission, "status", "--format", "json")) == []


def test_outside_a_site_nothing_happens(tmp_path: Path) -> None:
    for command, words in (
        (submission, ["status"]),
        (submission, ["send"]),
        (registry, ["update"]),
    ):
        with pytest.raises(ConfigError, match="not a site directory"):
            ok(Site(tmp_path), command, *words)
    assert list(tmp_path.iterdir()) == []


def test_a_public_benchmark_on_data_of_the_hospitals_own_counts_as_private(
    site: Site, joined_key: Path
) -> None:
    del joined_key
    fill(site, "pubmed_qa", "exact_match", MODELS[0].name, right=50, suite="own", known="unknown")
    with pytest.raises(DisclosureError, match="pubmed_qa: its data is the site's own"):
        ok(site, submission, "prepare", "--suite", "own")


def test_without_any_registered_scorecard_the_central_team_is_asked(
    site: Site, joined_key: Path, served: Served
) -> None:
    del joined_key
    with served.home.database.writing() as connection:
        retired = apply(newest_registry(connection), Additions(retired=[CARD.name]))
        sign_next(
            connection,
            replace(retired, version=retired.version + 1),
            [served.home.root_signer(retired)],
        )
    ok(site, registry, "update")
    with pytest.raises(ConfigError, match="no scorecard is registered") as caught:
        ok(site, submission, "prepare", "--suite", SUITE)
    assert "central team" in caught.value.advice


def test_scores_by_other_rules_are_not_submitted(site: Site, joined_key: Path) -> None:
    del joined_key
    fill(site, "pubmed_qa", "exact_match", MODELS[0].name, right=50, suite="helm", scoring="helm")
    with pytest.raises(DisclosureError, match="scored by helm's rules"):
        ok(site, submission, "prepare", "--suite", "helm")
    with pytest.raises(ConfigError, match="no suite default"):
        ok(site, submission, "prepare")
    with pytest.raises(ConfigError, match="no runs of example/none"):
        ok(site, submission, "prepare", "--suite", SUITE, "--model", "example/none")
    with pytest.raises(ConfigError, match="there is no scorecard other"):
        ok(site, submission, "prepare", "--suite", SUITE, "--scorecard", "other")
