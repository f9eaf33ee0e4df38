"""Draft statements of a site at a person's request; the command line and the pages call the same functions.

No function here lets anything leave: each leaves a draft in the outbox, which the steward has to sign.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agent.catalog.run_entries import find_named_benchmark
from agent.delivery.outbox import Submission
from agent.disclosure.approval import Audit
from agent.disclosure.collect import collect, list_own_metrics_left_out
from agent.disclosure.declarations import draft_abandon, draft_plan, draft_withdrawal
from agent.disclosure.findings import Finding
from agent.disclosure.plans import HASHED
from agent.disclosure.prepare import Prepared, check_models, check_scorecard, prepare
from agent.disclosure.registration import Registered, register
from agent.disclosure.restored_site import require_own_history
from agent.disclosure.scorecard import token_limits
from agent.disclosure.site_gate import choose_scorecard, open_gate
from agent.errors import DisclosureError
from agent.model_servers.assurance import compute_model_digest
from agent.site.directory import Site
from agent.store import JobState, Store
from protocol.registry import Registry
from protocol.scorecard import Scorecard

_AT_WORK = frozenset({JobState.RUNNING, JobState.CANCELLING})


@dataclass(frozen=True, slots=True)
class SuiteFigures:
    """What a suite has for a scorecard, before the gate decided anything. It contains scores.

    Attributes:
        scorecard: the scorecard that is reported.
        findings: the findings by the model's registered name.
        left_out: sentences about own metrics that the scorecard does not register.
    """

    scorecard: Scorecard
    findings: Mapping[str, Sequence[Finding]]
    left_out: Sequence[str]

    @property
    def partial(self) -> list[str]:
        """The benchmarks of which only part of the data was asked, each with its extent."""
        lines: set[str] = set()
        for findings in self.findings.values():
            for finding in findings:
                if finding.subgroup is None and not finding.extent.enough(finding.access):
                    lines.add(f"{finding.benchmark}: {finding.extent}")
        return sorted(lines)


@dataclass(frozen=True, slots=True)
class PreparedSuite:
    """The drafts of a suite, and the figures that they were made from."""

    prepared: Prepared
    figures: SuiteFigures
    registry: Registry


def collect_suite(
    site: Site,
    store: Store,
    registry: Registry,
    suite: str,
    scorecard_name: str | None,
    models: Collection[str],
) -> SuiteFigures:
    """Collect the figures of a suite that a scorecard asks for.

    Args:
        site: the site.
        store: the site's store.
        registry: the newest registry.
        suite: the suite of the runs.
        scorecard_name: name of the scorecard; None for the only one.
        models: names of models; if empty, all models of the suite.

    Raises:
        ConfigError: there is no such suite, scorecard or model.
        DisclosureError: a job still works on the suite, a run cannot be submitted, or nothing fits the scorecard.
    """
    scorecard = choose_scorecard(registry, scorecard_name)
    check_no_job_works_on(store, suite)
    _check_all_are_shown(store, suite, models)
    limits = token_limits(scorecard, site.own_benchmarks)
    findings = collect(store, suite, scorecard, models, token_limits=limits)
    if not findings:
        raise DisclosureError(
            f"the suite has no runs of the benchmarks of scorecard {scorecard.name}",
            "Run one of its benchmarks, or choose another scorecard.",
        )
    left_out = list_own_metrics_left_out(store, suite, scorecard, models)
    return SuiteFigures(scorecard, findings, left_out)


def check_no_job_works_on(store: Store, suite: str) -> None:
    """Check that no job is changing a suite, whose figures would otherwise be those of a moment.

    Raises:
        DisclosureError: a job of the suite is running.
    """
    for job in store.jobs.list_open():
        # A job of private runs changes no figure that could be submitted.
        is_at_work = job.state in _AT_WORK and not job.command.private
        if job.command.suite == suite and is_at_work:
            raise DisclosureError(
                f"job {job.job_id} is working on suite {suite}, so its figures are not final",
                "Wait until the job has ended, or cancel it.",
            )


def _check_all_are_shown(store: Store, suite: str, models: Collection[str]) -> None:
    """Refuse private runs: the audit log does not name their suites, so that it could not tell who had a part in it."""
    for run in store.runs.select(suite):
        if run.is_private and (not models or run.model in models):
            raise DisclosureError(
                f"{run.benchmark}: a run of suite {suite} is kept from others, so it cannot be submitted",
                "Show the run to others first.",
            )


def prepare_suite(
    site: Site,
    store: Store,
    suite: str,
    scorecard_name: str | None,
    models: Collection[str],
    today_day: int,
    audit: Audit,
) -> PreparedSuite:
    """Draft the results of a suite, one for each model; for the arguments see `collect_suite`.

    The audit log has the suite before anything is drafted: whoever asked had a part in its drafts, even if the last
    model's figures are refused or the machine stops in between.

    Raises:
        DisclosureError: see `collect_suite` and `agent.disclosure.prepare.prepare`.
        StoreError: a run is being deleted or kept from others.
    """
    require_own_history(site)
    gate = open_gate(site, today_day)
    # A run that goes in between would leave a draft that nobody can compute again.
    with store.runs.hold_figures():
        figures = collect_suite(site, store, gate.registry, suite, scorecard_name, models)
        audit("suite prepared", f"suite={suite} day={today_day}")
        prepared = prepare(gate, figures.scorecard, figures.findings, suite)
    for digest in sorted(prepared.new):
        audit("submission prepared", f"digest={digest} day={today_day}")
    return PreparedSuite(prepared, figures, gate.registry)


def check_plan(site: Site, scorecard_name: str | None, model: str, today_day: int) -> Scorecard:
    """Return the scorecard of a plan that could be drafted now. Nothing is written.

    Raises:
        ConfigError, DisclosureError: the scorecard, the model or this version of the agent is not registered.
    """
    gate = open_gate(site, today_day)
    scorecard = choose_scorecard(gate.registry, scorecard_name)
    check_scorecard(gate.registry, scorecard, gate.agent_version)
    check_models(gate.registry, [model])
    return scorecard


def plan_evaluation(
    site: Site,
    scorecard_name: str | None,
    model: str,
    *,
    assurance: str,
    days: int,
    today_day: int,
    audit: Audit,
) -> Submission:
    """Draft a plan to evaluate a model; for the arguments see `agent.disclosure.declarations.draft_plan`.

    Raises:
        ConfigError, DisclosureError: see there; or the weights of the model cannot be hashed.
    """
    require_own_history(site)
    gate = open_gate(site, today_day)
    scorecard = choose_scorecard(gate.registry, scorecard_name)
    weights = compute_model_digest(site, model) if assurance == HASHED else ""
    drafted = draft_plan(gate, scorecard, model, assurance=assurance, days=days, weights=weights)
    audit("plan drafted", f"digest={drafted.digest} day={today_day}")
    return drafted


def abandon_plan(site: Site, digest: str, reason: str, today_day: int, audit: Audit) -> Submission:
    """Draft the statement that a plan will have no result.

    Args:
        site: the site.
        digest: at least the first 8 characters of the plan's digest.
        reason: one of ABANDON_REASONS.
        today_day: days since 1970-01-01 UTC.
        audit: the site's audit log.

    Raises:
        DisclosureError: this is no open plan.
    """
    require_own_history(site)
    gate = open_gate(site, today_day)
    drafted = draft_abandon(gate, gate.outbox.find(digest), reason)
    audit("plan given up", f"digest={drafted.digest} day={today_day}")
    return drafted


def withdraw_result(
    site: Site, digest: str, reason: str, today_day: int, audit: Audit
) -> Submission:
    """Draft the withdrawal of a result from the board; `reason` is one of WITHDRAW_REASONS.

    Raises:
        DisclosureError: this is no result with a receipt.
    """
    require_own_history(site)
    gate = open_gate(site, today_day)
    drafted = draft_withdrawal(gate, gate.outbox.find(digest), reason)
    audit("withdrawal drafted", f"digest={drafted.digest} day={today_day}")
    return drafted


def register_dataset(
    site: Site,
    store: Store,
    benchmark_id: str,
    today_day: int,
    audit: Audit,
    *,
    dry_run: bool = False,
) -> Registered:
    """Register the current data of a benchmark; for the outcome see `agent.disclosure.registration.register`.

    Raises:
        ConfigError, BenchmarkError, DisclosureError: see there.
    """
    benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
    if not dry_run:
        require_own_history(site)
    done = register(open_gate(site, today_day), benchmark, site.data, store, dry_run=dry_run)
    if done.submission is not None:
        audit(
            "dataset registered",
            f"benchmark={benchmark.id} version={done.number} commitment={done.candidate.entry.commitment} "
            f"statement={done.submission.digest}",
        )
    return done


def describe_candidate(registered: Registered) -> list[str]:
    """Return what a person should know about a version before it is registered, one sentence a line."""
    candidate = registered.candidate
    lines = []
    if candidate.difference is not None:
        difference = candidate.difference
        lines.append(
            f"since the previous version: {difference.added:,} added, {difference.removed:,} removed, "
            f"{difference.changed:,} changed"
        )
    lines.append(f"units never seen before: {candidate.never_seen:,}")
    if candidate.merged:
        lines.append(
            f"units merged because they share identifiers or records: {candidate.merged:,}"
        )
    if candidate.shared_with:
        lines.append(f"shares patients with versions of: {', '.join(candidate.shared_with)}")
    return lines
