"""Computes a submission again from the encrypted store, and compares root, figures and verdicts with the signed ones.

The gate is deterministic: from the same scores, the same ledger and the same policy it decides the same figures, noise
included. So everything in a result that is not a place in the chain can be computed again, for as long as the scores
are kept; texts are not needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from agent.disclosure.leaf_rescoring import AuditOutcome
from agent.disclosure.ledger import Ledger, ReleaseEntry
from agent.disclosure.prepare import Gate, choose_policy
from agent.disclosure.scorecard import token_limits
from agent.errors import AgentError, DisclosureError
from agent.store import Run, Store
from protocol.identity import NONE, agent_digest
from protocol.merkle import root
from protocol.scorecard import Scorecard


@dataclass(frozen=True, slots=True)
class Basis:
    """The runs, findings and records behind a submission, as the store holds them now.

    Attributes:
        scorecard: the one that it reports.
        runs: of its model, in its suite.
        findings: those of the scorecard's cells.
        records: leaves of the commitment, in their order.
    """

    scorecard: Scorecard
    runs: Sequence[Run]
    findings: Sequence[Finding]
    records: Sequence[ScoreRecord]

    @property
    def scores_root(self) -> str:
        """The root that these records give, 64 hex digits."""
        return root([record.leaf for record in self.records]).hex()


@dataclass(frozen=True, slots=True)
class Recomputation:
    """How one submission compares with its recomputation; `finding` says why it is no match, "" for a match."""

    outcome: AuditOutcome
    finding: str = ""


def recompute_submission(
    store: Store, gate: Gate, submission: Submission, own_benchmarks: Path | None
) -> Recomputation:
    """Compute root, figures and verdicts of a result again.

    Args:
        store: the site's.
        gate: as for preparing.
        submission: a result in the outbox.
        own_benchmarks: folder of the site's own benchmarks.

    Returns:
        A match, the first difference, or why it cannot be computed again.
    """
    try:
        basis = find_basis(store, gate, submission, own_benchmarks)
        if basis.scores_root != submission.result.scores_root:
            benchmarks = _list_benchmarks_on_other_data(gate, submission, basis)
            if benchmarks:
                raise DisclosureError(
                    f"its suite was run again since, on other data: {', '.join(benchmarks)}"
                )
            return Recomputation(
                AuditOutcome.DIFFERENT, "scores_root: the scores in the store give another root"
            )
        releases: list[GatedRelease] = []
        for ledger in _list_possible_ledgers(gate.ledger(), submission):
            releases.append(_decide_again(gate, submission, basis, ledger))
    except AgentError as error:
        return Recomputation(AuditOutcome.NOT_CHECKABLE, str(error))
    verdicts = gate.outbox.read_verdicts(submission.digest)
    first_differences: list[str] = []
    for release in releases:
        difference = _find_first_difference(gate, submission, verdicts, release)
        if difference is None:
            return Recomputation(AuditOutcome.MATCH)
        first_differences.append(difference)
    return Recomputation(AuditOutcome.DIFFERENT, first_differences[0])


def find_basis(
    store: Store, gate: Gate, submission: Submission, own_benchmarks: Path | None
) -> Basis:
    """Find the scorecard, runs and scores behind a result again. Args: see `recompute_submission`.

    Raises:
        AgentError: it cannot be found, or this is another version of the agent; says why.
    """
    result = submission.result
    if result.agent != agent_digest(__version__):
        raise DisclosureError(
            "another version of the agent prepared it, and would have to check it"
        )
    registered = gate.registry.scorecards.get(result.scorecard)
    model = gate.registry.models.get(result.model)
    if registered is None or model is None:
        raise DisclosureError("the registry does not have its scorecard or its model any more")
    suite = gate.outbox.read_verdicts(submission.digest).get("suite")
    if not isinstance(suite, str) or not suite:
        raise DisclosureError("its verdict file does not name the suite that it was prepared from")
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
    """Return the benchmarks whose runs in the store read another version of their data than the result names."""
    commitments = {NONE: ""}  # by the digest of the dataset's statement
    for held in gate.outbox.list_submissions():
        if held.dataset is not None:
            commitments[held.digest] = held.dataset.commitment
    benchmarks: set[str] = set()
    for finding in basis.findings:
        digest = submission.result.data.get(finding.benchmark)
        commitment = None if digest is None else commitments.get(digest)
        if commitment is not None and commitment != finding.dataset:
            benchmarks.add(finding.benchmark)
    return sorted(benchmarks)


def _list_possible_ledgers(ledger: Ledger, submission: Submission) -> list[Ledger]:
    """Return the states of the ledger that the submission may have been decided by.

    That is the ledger without the submission's own debit first; then with it, in case it was prepared a second time.

    Raises:
        DisclosureError: the ledger does not have the entry that the submission names.
    """
    signed_head = submission.header.ledger
    entries = tuple(entry for entry in ledger.entries if entry.number <= signed_head.length)
    ledger_then = Ledger(entries)
    if ledger_then.head != signed_head:
        raise DisclosureError(
            f"the ledger of releases does not have entry {signed_head.length} that it names"
        )
    last = entries[-1].content if entries else None
    if isinstance(last, ReleaseEntry) and _is_debit_of(last, submission):
        return [Ledger(entries[:-1]), ledger_then]
    return [ledger_then]


def _is_debit_of(release: ReleaseEntry, submission: Submission) -> bool:
    """Whether an entry of the ledger is the debit for the scores of a submission."""
    result = submission.result
    is_same_report = release.model == result.model and release.scorecard == result.scorecard
    return is_same_report and release.scores_root == result.scores_root


def _decide_again(gate: Gate, submission: Submission, basis: Basis, ledger: Ledger) -> GatedRelease:
    """Let the gate decide once more. Raises DisclosureError: it refuses, or the policy has changed since."""
    _, policy = choose_policy(gate.registry, gate.policy)
    if gate.outbox.read_verdicts(submission.digest).get("policy") != policy.digest:
        raise DisclosureError(
            "it was prepared under another disclosure policy than the one that is in force now"
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
    """Return in words the first difference between the signed result and the release decided now, None for none."""
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
            return f"data of {benchmark}: another registered dataset was signed than is behind the figures now"
    if result.outcome == "complete" and not release.complete:
        return "outcome: complete was signed, partial comes out now"
    return _find_other_verdict(verdicts, release)


def _find_other_figure(kind: str, signed: Mapping[str, int], now: Mapping[str, int]) -> str | None:
    for key in sorted({*signed, *now}):
        if signed.get(key) != now.get(key):
            return f"{kind} {key}: {_write(signed.get(key))} was signed, {_write(now.get(key))} comes out now"
    return None


def _find_other_verdict(verdicts: Mapping[str, object], release: GatedRelease) -> str | None:
    cells = verdicts.get("cells")
    verdicts_of_cells = cells if isinstance(cells, dict) else {}
    for key, rule in sorted(release.verdicts.items()):
        verdict = verdicts_of_cells.get(key)
        if verdict != rule.value:
            return f"verdict of {key}: the verdict file says {_write(verdict)}, {rule.value} comes out now"
    return None


def _find_commitment(gate: Gate, digest: str) -> str:
    """Return the commitment of the dataset whose statement has this digest; `none` for none."""
    if digest == NONE:
        return NONE
    dataset = gate.outbox.get(digest).dataset
    return NONE if dataset is None else dataset.commitment


def _write(value: object) -> str:
    return "nothing" if value is None else str(value)
