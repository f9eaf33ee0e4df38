"""Plans, what ends them, and results that are taken back: by the commands, against a real aggregator."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.federation import open_federation
from agent.cli.run import run as run_command
from agent.cli.submission import submission
from agent.cli.submission_context import open_gate, open_outbox
from agent.disclosure.plans import derive_sampling_seed, read_challenge
from agent.errors import AgentError, ConfigError, DisclosureError
from agent.model_servers.assurance import compute_model_digest
from agent.site.directory import Site
from aggregator.home import today_day
from protocol.identity import NONE
from tests.agent.delivery.whole_site import SUITE, fill, ok, rows, run, states
from tests.aggregator.federation import CARD, MODELS

MODEL = MODELS[0].name


def make_plan(
    site: Site, key: Path, *, model: str = MODEL, assurance: str = "served_claimed"
) -> str:
    """Draft, approve and send a plan; return its digest."""
    ok(site, submission, "plan", "--model", model, "--model-assurance", assurance)
    (row,) = [row for row in rows(site, "plan") if row["state"] == "prepared"]
    ok(site, submission, "approve", "--key", key, answer="y\n")
    ok(site, submission, "send")
    return str(row["digest"])


def serve_weights(site: Site) -> str:
    """Give the site a deployment of the model that the agent serves; return the digest of its weights."""
    weights = site.directory / "m.gguf"
    weights.write_bytes(b"GGUF and more")
    deployment = f"{{name: local/m, model_name: {MODEL}, model_server: {{engine: llamacpp, weights: m.gguf}}}}"
    site.deployments.write_text(f"model_deployments:\n  - {deployment}\n", "utf-8")
    return compute_model_digest(site, MODEL)


def release(site: Site, key: Path, suite: str = SUITE) -> str:
    """Prepare, approve and send the model's result; return its digest."""
    ok(site, submission, "prepare", "--suite", suite, "--model", MODEL)
    drafted = [row["digest"] for row in rows(site, "result") if row["state"] == "prepared"]
    ok(site, submission, "approve", "--key", key, answer="y\n" * len(drafted))
    ok(site, submission, "send")
    return str(drafted[-1])


@pytest.mark.full
def test_a_result_names_the_plan_that_was_made_before_it(site: Site, joined_key: Path) -> None:
    plan = make_plan(site, joined_key)
    promised = open_outbox(site).get(plan).plan
    assert promised is not None
    assert {name for name, statement in promised.data.items() if statement != NONE} == {
        "shc_notes",
        "aci_bench",
    }
    result = open_outbox(site).get(release(site, joined_key)).result
    assert result.plan == plan
    assert result.challenge != NONE
    assert result.data == {
        **result.data,
        **{name: promised.data[name] for name in ("shc_notes", "aci_bench")},
    }
    with pytest.raises(DisclosureError, match="the plan is not open"):
        ok(site, submission, "abandon", "--plan", plan, "--reason", "failed")


def test_a_plan_asked_for_twice_is_one_plan(site: Site, joined_key: Path) -> None:
    for _ in range(2):
        ok(site, submission, "plan", "--model", MODEL)
    assert len(rows(site, "plan")) == 1
    ok(site, submission, "approve", "--key", joined_key, answer="y\n")
    ok(site, submission, "send")
    assert "receipted" in ok(site, submission, "plan", "--model", MODEL, "--days", 40)
    serve_weights(site)
    for _ in range(2):
        ok(site, submission, "plan", "--model", MODEL, "--model-assurance", "weights_hashed")
    assert states(site, "plan") == ["receipted", "prepared"]


def test_weights_that_the_agent_does_not_serve_are_not_stated_to_be_hashed(
    site: Site, joined_key: Path
) -> None:
    del joined_key
    with pytest.raises(ConfigError, match=r"no deployment of it in model_deployments\.yaml has"):
        ok(site, submission, "plan", "--model", MODEL, "--model-assurance", "weights_hashed")
    assert states(site, "plan") == []


def test_a_result_of_other_weights_than_the_plan_states_is_refused(
    site: Site, joined_key: Path
) -> None:
    weights = serve_weights(site)
    plan = make_plan(site, joined_key, assurance="weights_hashed")
    for suite, digest in (("others", "0" * 64), ("unknown", None), ("same", weights)):
        for cell in CARD.cells:
            fill(site, cell.benchmark, cell.metric, MODEL, right=70, suite=suite, weights=digest)
    for suite in ("others", "unknown"):
        with pytest.raises(DisclosureError, match="the run was not made with the weights"):
            ok(site, submission, "prepare", "--suite", suite, "--model", MODEL)
    assert open_outbox(site).get(release(site, joined_key, "same")).result.plan == plan


@pytest.mark.full
def test_an_abandoned_plan_is_over_for_both_sides(site: Site, joined_key: Path) -> None:
    plan = make_plan(site, joined_key)
    for _ in range(2):
        ok(site, submission, "abandon", "--plan", plan[:12], "--reason", "failed")
    assert len(rows(site, "abandon")) == 1
    ok(site, submission, "approve", "--key", joined_key, answer="y\n")
    ok(site, submission, "send")
    assert states(site, "abandon") == ["receipted"]
    assert open_outbox(site).get(release(site, joined_key)).result.plan == NONE
    # A plan for the same may follow: it is another one.
    assert make_plan(site, joined_key) != plan


@pytest.mark.full
def test_only_an_open_plan_gives_a_seed(site: Site, joined_key: Path) -> None:
    ok(site, submission, "plan", "--model", MODEL)
    (row,) = rows(site, "plan")
    entry = f"pubmed_qa:model={MODEL}"
    with pytest.raises(DisclosureError, match="the plan is not open"):
        ok(site, run_command, "--run-entries", entry, "--plan", row["digest"])
    ok(site, submission, "approve", "--key", joined_key, answer="y\n")
    ok(site, submission, "send")
    with pytest.raises(AgentError, match="the plan is not for"):
        ok(
            site,
            run_command,
            "--run-entries",
            "pubmed_qa:model=example/none",
            "--plan",
            row["digest"],
        )
    words = ["--run-entries", entry, "--plan", row["digest"], "--sample-seed", "3"]
    refused = CliRunner().invoke(run_command, words, obj=site)
    assert (refused.exit_code, "--plan and --sample-seed cannot be combined" in refused.output) == (
        2,
        True,
    )


@pytest.mark.full
def test_a_part_that_a_plan_chose_is_submitted_and_one_chosen_here_is_not(
    site: Site, joined_key: Path
) -> None:
    plan = make_plan(site, joined_key)
    registry = open_federation(site).read_registry(today_day())
    seed = derive_sampling_seed(
        read_challenge(open_outbox(site), registry, open_outbox(site).get(plan))
    )
    for name, chosen in (("planned", seed), ("chosen", seed + 1)):
        for cell in CARD.cells:
            fill(
                site,
                cell.benchmark,
                cell.metric,
                MODEL,
                right=70,
                suite=name,
                plan=plan,
                sample_seed=chosen,
            )
    with pytest.raises(DisclosureError, match="not sampled with the seed from its plan"):
        ok(site, submission, "prepare", "--suite", "chosen", "--model", MODEL)
    assert open_outbox(site).get(release(site, joined_key, "planned")).result.plan == plan


@pytest.mark.full
def test_a_withdrawn_result_may_be_submitted_again_and_costs_no_second_debit(
    site: Site, joined_key: Path
) -> None:
    first = release(site, joined_key)
    for _ in range(2):
        ok(site, submission, "withdraw", "--digest", first[:12], "--reason", "data_error")
    assert len(rows(site, "withdraw")) == 1
    ok(site, submission, "approve", "--key", joined_key, answer="y\n")
    ok(site, submission, "send")
    debits = open_gate(site).ledger().head
    again = release(site, joined_key)
    assert again != first
    assert states(site, "result") == ["receipted"] * 2
    assert open_gate(site).ledger().head == debits
    one, other = open_outbox(site).get(first).result, open_outbox(site).get(again).result
    assert (one.cells, one.groups, one.scores_root) == (
        other.cells,
        other.groups,
        other.scores_root,
    )


def test_a_draft_is_not_withdrawn_and_a_dataset_is_no_result(site: Site, joined_key: Path) -> None:
    del joined_key
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODEL)
    for row in json.loads(ok(site, submission, "status", "--format", "json")):
        failed = run(site, submission, "withdraw", "--digest", row["digest"], "--reason", "consent")
        assert isinstance(failed.exception, DisclosureError)
