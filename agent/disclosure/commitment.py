"""The commitment to every score behind a submission: a salted Merkle root (protocol, section 6).

It binds the site to its records without telling anything about them: without the salts, which come from a secret of
the site, not even the number of records follows, and no guessed record can be checked against the root. A leaf is
opened by its record, its salt and its path to the root; the other leaves stay closed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.disclosure.findings import Finding
from agent.keys import derive_key
from agent.store import UnitScore
from protocol.canonical import canonical
from protocol.errors import ProtocolError
from protocol.merkle import leaf_hash, node_hash, record_salt, root, verify_inclusion
from protocol.scorecard import Scorecard


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One leaf's content: the score of one instance for one cell.

    Attributes:
        benchmark, metric, subgroup: which cell; subgroup is "" for all units.
        score: unit, instance, and the value or the reason why there is none.
        data: the record as it is hashed, canonical JSON.
        salt: 32 bytes, hashed before it.
    """

    benchmark: str
    metric: str
    subgroup: str
    score: UnitScore
    data: bytes
    salt: bytes

    @property
    def leaf(self) -> bytes:
        """The leaf's hash."""
        return leaf_hash(self.salt + self.data)


@dataclass(frozen=True, slots=True)
class OpenedLeaf:
    """One leaf with what proves that it belongs to a root.

    Attributes:
        index: place among the leaves, from 0.
        size: number of leaves.
        record: what the leaf holds.
        proof: hashes on the way to the root, the leaf's sibling first (RFC 6962).
    """

    index: int
    size: int
    record: ScoreRecord
    proof: tuple[bytes, ...]

    def leads_to(self, scores_root: str) -> bool:
        """Whether record, salt and proof give this root (64 hex digits)."""
        try:
            verify_inclusion(
                self.record.leaf, self.index, self.size, self.proof, bytes.fromhex(scores_root)
            )
        except ProtocolError:
            return False
        return True


def derive_record_key(data_key: bytes) -> bytes:
    """Return the site's secret that salts derive from."""
    return derive_key(data_key, "score-records/v1")


def select_findings(findings: Iterable[Finding], scorecard: Scorecard) -> list[Finding]:
    """Return the findings that a submission rests on: those of the scorecard's cells that were asked."""
    wanted = {(cell.benchmark, cell.metric, cell.subgroup) for cell in scorecard.cells}
    return [
        finding
        for finding in findings
        if finding.asked and (finding.benchmark, finding.metric, finding.subgroup) in wanted
    ]


def compute_scores_root(
    findings: Sequence[Finding], *, model: str, scorecard: str, site_secret: bytes
) -> str:
    """Return the root over one record an instance and cell, as 64 hex digits; the same for the same scores.

    Args and records: see `list_records`.
    """
    records = list_records(findings, model=model, scorecard=scorecard, site_secret=site_secret)
    return root([record.leaf for record in records]).hex()


def list_records(
    findings: Sequence[Finding], *, model: str, scorecard: str, site_secret: bytes
) -> list[ScoreRecord]:
    """Return the record of every instance and cell, in the order of the leaves.

    A record is canonical JSON: model and scorecard digest, benchmark, metric, subgroup, unit and instance (keyed
    hashes, hexadecimal), and the score as a hexadecimal float, or the reason why there is none. Records are in the
    order of benchmark, metric, subgroup and instance; salts are counted within a benchmark.

    Args:
        findings: those that the submission rests on.
        model, scorecard: digests.
        site_secret: the site's own; salts derive from it.
    """
    records: list[ScoreRecord] = []
    salts_used: dict[str, int] = {}
    for finding in sorted(
        findings, key=lambda finding: (finding.benchmark, finding.metric, finding.subgroup or "")
    ):
        for score in sorted(finding.scores, key=lambda score: score.instance_key):
            number = salts_used.get(finding.benchmark, 0)
            salts_used[finding.benchmark] = number + 1
            data = _encode(finding, score, model=model, scorecard=scorecard)
            salt = record_salt(site_secret, finding.benchmark, number)
            records.append(
                ScoreRecord(
                    finding.benchmark, finding.metric, finding.subgroup or "", score, data, salt
                )
            )
    return records


def open_leaves(records: Sequence[ScoreRecord], indices: Iterable[int]) -> list[OpenedLeaf]:
    """Return the leaves at `indices` (from 0), each with its proof.

    Raises:
        IndexError: there is no such leaf.
    """
    levels = _build_levels([record.leaf for record in records])
    return [
        OpenedLeaf(index, len(records), records[index], _read_proof(levels, index))
        for index in indices
    ]


def _encode(finding: Finding, score: UnitScore, *, model: str, scorecard: str) -> bytes:
    """Return the record of one score."""
    outcome = str(score.reason) if score.value is None else float(score.value).hex()
    return canonical(
        {
            "model": model,
            "scorecard": scorecard,
            "benchmark": finding.benchmark,
            "metric": finding.metric,
            "subgroup": finding.subgroup or "",
            "unit": score.unit_key.hex(),
            "instance": score.instance_key.hex(),
            "scored": score.value is not None,
            "outcome": outcome,
        }
    )


def _build_levels(leaf_hashes: Sequence[bytes]) -> list[list[bytes]]:
    """Return the hashes of every level of the tree, leaves first; a node without a sibling moves up as it is."""
    levels = [list(leaf_hashes)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        level = [node_hash(below[left], below[left + 1]) for left in range(0, len(below) - 1, 2)]
        if len(below) % 2:
            level.append(below[-1])
        levels.append(level)
    return levels


def _read_proof(levels: Sequence[Sequence[bytes]], index: int) -> tuple[bytes, ...]:
    """Return the siblings of a leaf and of the nodes above it."""
    proof: list[bytes] = []
    for level in levels[:-1]:
        sibling = index ^ 1
        if sibling < len(level):
            proof.append(level[sibling])
        index //= 2
    return tuple(proof)
