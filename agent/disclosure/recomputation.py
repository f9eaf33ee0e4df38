"""A submission once more from the encrypted store: do root, figures and verdicts come out as they were signed?

The gate is deterministic: from the same scores, the same ledger and the same policy it decides the same figures, noise
included. So everything in a result that is not a place in the chain can be computed again, for as long as the scores
are kept; texts are not needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent import __version__
from agent.delivery.outbox import Submission
from agent.disclosure.collect import collect
from agent.disclosure.commitment import ScoreRecord, derive_record_key, list_records, select_findings
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
    """What a submission rests on, as the store holds it now.

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
    """How one submission compares with what comes out now; `finding` says why it is no match, "" for a match."""

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
            if moved := _run_on_other_data(gate, submission, basis):
                raise DisclosureError(f"its suite was run again since, on other data: {', '.join(moved)}")
            return Recomputation(AuditOutcome.DIFFERENT, "scores_root: the scores in the store give another root")
        releases = [
            _decide_again(gate, submission, basis, ledger) for ledger in _ledgers_before(gate.ledger(), submission)
        ]
    except AgentError as error:
        return Recomputation(AuditOutcome.NOT_CHECKABLE, str(error))
    verdicts = gate.outbox.verdicts(submission.digest)
    first_differences = [next(_differences(gate, submission, verdicts, release), "") for release in releases]
    if "" in first_differences:
        return Recomputation(AuditOutcome.MATCH)
    return Recomputation(AuditOutcome.DIFFERENT, first_differences[0])


def find_basis(store: Store, gate: Gate, submission: Submission, own_benchmarks: Path | None) -> Basis:
    """Find again what a result rests on. Args: see `recompute_submission`.

    Raises:
        AgentError: it cannot be found, or this is another version of the agent; says why.
    """
    result = submission.result
    if result.agent != agent_digest(__version__):
        raise DisclosureError("another version of the agent prepared it, and would have to check it")
    registered = gate.registry.scorecards.get(result.scorecard)
    model = gate.registry.models.get(result.model)
    if registered is None or model is None:
        raise DisclosureError("the registry does not have its scorecard or its model any more")
    suite = gate.outbox.verdicts(submission.digest).get("suite")
    if not isinstance(suite, str) or not suite:
        raise DisclosureError("its verdict file does not name the suite that it was prepared from")
    scorecard = registered.scorecard
    limits = token_limits(scorecard, own_benchmarks)
    found = collect(store, suite, scorecard, [model.name], token_limits=limits).get(model.name, [])
    findings = select_findings(found, scorecard)
    return Basis(
        scorecard=scorecard,
        runs=[run for run in store.runs.select(suite) if run.model == model.name],
        findings=findings,
        records=list_records(
            findings, model=result.model, scorecard=result.scorecard, site_secret=derive_record_key(gate.data_key)
        ),
    )


def _run_on_other_data(gate: Gate, submission: Submission, basis: Basis) -> list[str]:
    """Return the benchmarks whose runs in the store read another version of their data than the result names."""
    versions = {held.digest: held.dataset.commitment for held in gate.outbox.all() if held.dataset is not None}
    versions[NONE] = ""
    named = {benchmark: versions.get(digest) for benchmark, digest in submission.result.data.items()}
    return sorted(
        {finding.benchmark for finding in basis.findings if named.get(finding.benchmark) not in (None, finding.dataset)}
    )


def _ledgers_before(ledger: Ledger, submission: Submission) -> list[Ledger]:
    """Return the states of the ledger that the submission may have been decided by.

    That is the ledger without the submission's own debit; or with it, where it was prepared a second time.

    Raises:
        DisclosureError: the ledger does not have the entry that the submission names.
    """
    named = submission.header.ledger
    entries = tuple(entry for entry in ledger.entries if entry.number <= named.length)
    if Ledger(entries).head != named:
        raise DisclosureError(f"the ledger of releases does not have entry {named.length} that it names")
    states = [Ledger(entries)]
    result = submission.result
    last = entries[-1].content if entries else None
    if isinstance(last, ReleaseEntry):
        own = (result.model, result.scorecard, result.scores_root)
        if (last.model, last.scorecard, last.scores_root) == own:
            states.insert(0, Ledger(entries[:-1]))
    return states


def _decide_again(gate: Gate, submission: Submission, basis: Basis, ledger: Ledger) -> GatedRelease:
    """Let the gate decide once more. Raises DisclosureError: it refuses, or the policy has changed since."""
    _, policy = choose_policy(gate.registry, gate.policy)
    if gate.outbox.verdicts(submission.digest).get("policy") != policy.digest:
        raise DisclosureError("it was prepared under another disclosure policy than the one that is in force now")
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


def _differences(
    gate: Gate, submission: Submission, verdicts: Mapping[str, object], release: GatedRelease
) -> Iterator[str]:
    """Yield each difference between what was signed and what comes out now, in a fixed order."""
    result = submission.result
    for what, signed, now in (
        ("group", result.groups, release.groups),
        ("cell", result.cells, release.cells),
        ("spread", result.spreads, release.spreads),
    ):
        for key in sorted({*signed, *now}):
            if signed.get(key) != now.get(key):
                yield f"{what} {key}: {_write(signed.get(key))} was signed, {_write(now.get(key))} comes out now"
    for benchmark, digest in sorted(result.data.items()):
        if _named_commitment(gate, digest) != release.data.get(benchmark, NONE):
            yield f"data of {benchmark}: another registered dataset was signed than is behind the figures now"
    if result.outcome == "complete" and not release.complete:
        yield "outcome: complete was signed, partial comes out now"
    kept = verdicts.get("cells")
    kept = kept if isinstance(kept, dict) else {}
    for key, rule in sorted(release.verdicts.items()):
        if kept.get(key) != rule.value:
            yield f"verdict of {key}: the verdict file says {_write(kept.get(key))}, {rule.value} comes out now"


def _named_commitment(gate: Gate, digest: str) -> str:
    """Return the commitment of the dataset whose statement has this digest; `none` for none."""
    if digest == NONE:
        return NONE
    dataset = gate.outbox.get(digest).dataset
    return NONE if dataset is None else dataset.commitment


def _write(value: object) -> str:
    return "nothing" if value is None else str(value)
