"""Compute a submission again from the encrypted store, and compare root, figures and verdicts with the signed ones.

The gate is deterministic: the same scores, ledger and policy give the same figures, including the noise. Therefore
everything in a result except its position in the chain can be computed again as long as the scores are stored. Texts
are not needed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent import __version__
from agent.delivery.outbox import Submission
from agent.disclosure.collect import collect
from agent.disclosure.commitment import (
    ScoreRecord,
    derive_record_key,
    list_records,
    select_findings,
)
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease, decide
from agent.disclosure.ledger import Ledger, ReleaseEntry
from agent.disclosure.prepare import Gate, choose_policy
from agent.disclosure.record_check import AuditOutcome
from agent.disclosure.scorecard import token_limits
from agent.errors import AgentError, DisclosureError
from agent.runs.delete_run import DELETED_EVENT
from agent.runs.privacy import HIDDEN_EVENT
from agent.store import AuditEvent, Run, Store
from protocol.identity import NONE, agent_digest
from protocol.merkle import root
from protocol.scorecard import Scorecard

_RUN: Final = re.compile(r"run=([0-9a-f]+) ")


@dataclass(frozen=True, slots=True)
class Basis:
    """The runs, findings and records behind a submission, according to the present store.

    Attributes:
        scorecard: the scorecard of the submission.
        runs: the runs of its model in its suite.
        findings: the findings for the scorecard's cells.
        records: the leaves of the commitment, in order.
    """

    scorecard: Scorecard
    runs: Sequence[Run]
    findings: Sequence[Finding]
    records: Sequence[ScoreRecord]

    @property
    def scores_root(self) -> str:
        """The root over these records, 64 hex digits."""
        return root([record.leaf for record in self.records]).hex()


@dataclass(frozen=True, slots=True)
class Recomputation:
    """The outcome of recomputing one submission; `finding` explains a mismatch and is "" for a match."""

    outcome: AuditOutcome
    finding: str = ""


def recompute_submission(
    store: Store, gate: Gate, submission: Submission, own_benchmarks: Path | None
) -> Recomputation:
    """Compute root, figures and verdicts of a result again and compare them with the signed ones.

    Args:
        store: the site's store.
        gate: the outbox, keys and policies, as for `prepare`.
        submission: a result in the outbox.
        own_benchmarks: folder of the site's own benchmarks.

    Returns:
        A match, the first difference, or the reason why it cannot be computed again.
    """
    try:
        basis = find_basis(store, gate, submission, own_benchmarks)
        if basis.scores_root != submission.result.scores_root:
            benchmarks = _list_benchmarks_on_other_data(gate, submission, basis)
            if benchmarks:
                raise DisclosureError(
                    f"the submission's suite has been run again on other data since then: {', '.join(benchmarks)}"
                )
            if removal := _describe_removal(store, submission):
                return Recomputation(AuditOutcome.NOT_CHECKABLE, removal)
            return Recomputation(
                AuditOutcome.DIFFERENT, "scores_root: the scores in the store give a different root"
            )
        releases: list[GatedRelease] = []
        for ledger in _list_possible_ledgers(gate.ledger(), submission):
            releases.append(_decide_again(gate, submission, basis, ledger))
    except AgentError as error:
        finding = _describe_removal(store, submission) or str(error)
        return Recomputation(AuditOutcome.NOT_CHECKABLE, finding)
    verdicts = gate.outbox.read_verdicts(submission.digest)
    first_differences: list[str] = []
    for release in releases:
        difference = _find_first_difference(gate, submission, verdicts, release)
        if difference is None:
            return Recomputation(AuditOutcome.MATCH)
        first_differences.append(difference)
    return Recomputation(AuditOutcome.DIFFERENT, first_differences[0])


def _describe_removal(store: Store, submission: Submission) -> str:
    """Return that somebody deleted or hid a run behind a submission, as the audit log tells; empty if nobody did."""
    for event in reversed(store.audit.read_events()):
        if submission.digest not in event.detail:
            continue
        if event.event == DELETED_EVENT:
            return f"event {event.number} of the audit log: a run behind it was deleted"
        if event.event == HIDDEN_EVENT and _is_private(store, event):
            return f"event {event.number} of the audit log: a run behind it was made private; show it to others first"
    return ""


def _is_private(store: Store, event: AuditEvent) -> bool:
    """Return whether the run of an event is private now."""
    named = _RUN.match(event.detail)
    run = None if named is None else store.runs.find(named[1])
    return run is not None and run.is_private


def find_basis(
    store: Store, gate: Gate, submission: Submission, own_benchmarks: Path | None
) -> Basis:
    """Find the scorecard, runs and scores behind a result. For the arguments see `recompute_submission`.

    Raises:
        AgentError: something cannot be found, or another version of the agent prepared the result.
    """
    result = submission.result
    if result.agent != agent_digest(__version__):
        raise DisclosureError(
            "another version of the agent prepared the submission; only that version can check it"
        )
    registered = gate.registry.scorecards.get(result.scorecard)
    model = gate.registry.models.get(result.model)
    if registered is None or model is None:
        raise DisclosureError("the submission's scorecard or model is no longer in the registry")
    suite = gate.outbox.read_verdicts(submission.digest).get("suite")
    if not isinstance(suite, str) or not suite:
        raise DisclosureError(
            "the verdict file does not name the suite from which the submission was prepared"
        )
    scorecard = registered.scorecard
    limits = token_limits(scorecard, own_benchmarks)
    findings_by_model = collect(store, suite, scorecard, [model.name], token_limits=limits)
    findings = select_findings(findings_by_model.get(model.name, []), scorecard)
    records = list_records(
        findings,
        model=result.model,
        scorecard=result.scorecard,
        site_secret=derive_record_key(gate.data_key),
    )
    return Basis(
        scorecard=scorecard,
        runs=[run for run in store.runs.select(suite) if run.model == model.name],
        findings=findings,
        records=records,
    )


def _list_benchmarks_on_other_data(gate: Gate, submission: Submission, basis: Basis) -> list[str]:
    """Return the benchmarks whose runs in the store read a different version of the data from the one in the result."""
    commitments = {NONE: ""}  # digest of a dataset's statement -> commitment
    for registering in gate.outbox.list_submissions():
        if registering.dataset is not None:
            commitments[registering.digest] = registering.dataset.commitment
    benchmarks: set[str] = set()
    for finding in basis.findings:
        digest = submission.result.data.get(finding.benchmark)
        commitment = None if digest is None else commitments.get(digest)
        if commitment is not None and commitment != finding.dataset:
            benchmarks.add(finding.benchmark)
    return sorted(benchmarks)


def _list_possible_ledgers(ledger: Ledger, submission: Submission) -> list[Ledger]:
    """Return the states of the ledger with which the gate may have decided the submission.

    The first is the ledger without the submission's own debit. The second includes it, in case the submission was
    prepared twice.

    Raises:
        DisclosureError: the ledger lacks the entry that the submission names.
    """
    signed_head = submission.header.ledger
    entries = tuple(entry for entry in ledger.entries if entry.number <= signed_head.length)
    ledger_then = Ledger(entries)
    if ledger_then.head != signed_head:
        raise DisclosureError(
            f"the ledger of releases lacks entry {signed_head.length}, which the submission names"
        )
    last = entries[-1].content if entries else None
    if isinstance(last, ReleaseEntry) and _is_debit_of(last, submission):
        return [Ledger(entries[:-1]), ledger_then]
    return [ledger_then]


def _is_debit_of(release: ReleaseEntry, submission: Submission) -> bool:
    """Return whether a ledger entry is the debit for the scores of a submission."""
    result = submission.result
    is_same_report = release.model == result.model and release.scorecard == result.scorecard
    return is_same_report and release.scores_root == result.scores_root


def _decide_again(gate: Gate, submission: Submission, basis: Basis, ledger: Ledger) -> GatedRelease:
    """Repeat the gate's decision. Raises DisclosureError if the gate refuses or the policy has changed since then."""
    _, policy = choose_policy(gate.registry, gate.policy)
    if gate.outbox.read_verdicts(submission.digest).get("policy") != policy.digest:
        raise DisclosureError(
            "the submission was prepared under a disclosure policy that is no longer in force"
        )
    return decide(
        basis.scorecard,
        policy,
        basis.findings,
        model=submission.result.model,
        scores_root=submission.result.scores_root,
        day=submission.result.day,
        ledger=ledger,
        secrets=gate.secrets,
    )


def _find_first_difference(
    gate: Gate, submission: Submission, verdicts: Mapping[str, object], release: GatedRelease
) -> str | None:
    """Describe the first difference between the signed result and the recomputed release; None if they are equal."""
    result = submission.result
    difference = (
        _find_other_figure("group", result.groups, release.groups)
        or _find_other_figure("cell", result.cells, release.cells)
        or _find_other_figure("spread", result.spreads, release.spreads)
    )
    if difference is not None:
        return difference
    for benchmark, digest in sorted(result.data.items()):
        if _find_commitment(gate, digest) != release.data.get(benchmark, NONE):
            return f"data of {benchmark}: the signed dataset differs from the one behind the recomputed figures"
    if result.outcome == "complete" and not release.complete:
        return "outcome: complete was signed, but partial is computed now"
    return _find_other_verdict(verdicts, release)


def _find_other_figure(kind: str, signed: Mapping[str, int], now: Mapping[str, int]) -> str | None:
    for key in sorted({*signed, *now}):
        if signed.get(key) != now.get(key):
            return f"{kind} {key}: {_write(signed.get(key))} was signed, but {_write(now.get(key))} is computed now"
    return None


def _find_other_verdict(verdicts: Mapping[str, object], release: GatedRelease) -> str | None:
    cells = verdicts.get("cells")
    verdicts_of_cells = cells if isinstance(cells, dict) else {}
    for key, rule in sorted(release.verdicts.items()):
        verdict = verdicts_of_cells.get(key)
        if verdict != rule.value:
            return f"verdict of {key}: the verdict file has {_write(verdict)}, but {rule.value} is computed now"
    return None


def _find_commitment(gate: Gate, digest: str) -> str:
    """Return the commitment of the dataset whose statement has this digest, or `none`."""
    if digest == NONE:
        return NONE
    dataset = gate.outbox.get(digest).dataset
    return NONE if dataset is None else dataset.commitment


def _write(value: object) -> str:
    return "nothing" if value is None else str(value)
