"""The commitment to every score behind a submission: a salted Merkle root (protocol, section 6).

The root binds the site to its records without revealing anything about them. Without the salts, which derive from a
secret of the site, the root does not even reveal the number of records, and guessed records cannot be checked against
it. A leaf is opened by its record, its salt and its path to the root; the other leaves stay hidden.
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
    """The content of one leaf: the score of one instance for one cell.

    Attributes:
        benchmark: the cell's benchmark.
        metric: the cell's metric.
        subgroup: the cell's subgroup; "" for all units.
        score: the unit, the instance, and the score or the reason why there is none.
        data: the record in its hashed form, canonical JSON.
        salt: 32 bytes that are hashed before `data`.
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
    """One leaf with the proof that it belongs to a root.

    Attributes:
        index: index of the leaf, from 0.
        size: number of leaves.
        record: content of the leaf.
        proof: sibling hashes on the path to the root, the leaf's own sibling first (RFC 6962).
    """

    index: int
    size: int
    record: ScoreRecord
    proof: tuple[bytes, ...]

    def leads_to(self, scores_root: str) -> bool:
        """Return whether record, salt and proof lead to this root (64 hex digits)."""
        try:
            verify_inclusion(
                self.record.leaf, self.index, self.size, self.proof, bytes.fromhex(scores_root)
            )
        except ProtocolError:
            return False
        return True


def derive_record_key(data_key: bytes) -> bytes:
    """Return the secret from which the site's salts derive."""
    return derive_key(data_key, "score-records/v1")


def select_findings(findings: Iterable[Finding], scorecard: Scorecard) -> list[Finding]:
    """Return the findings behind a submission: those of cells in the scorecard with at least one asked instance."""
    wanted = {(cell.benchmark, cell.metric, cell.subgroup) for cell in scorecard.cells}
    return [
        finding
        for finding in findings
        if finding.asked and (finding.benchmark, finding.metric, finding.subgroup) in wanted
    ]


def compute_scores_root(
    findings: Sequence[Finding], *, model: str, scorecard: str, site_secret: bytes
) -> str:
    """Return the root over one record per instance and cell, as 64 hex digits. Equal scores give equal roots.

    For the arguments and the records see `list_records`.
    """
    records = list_records(findings, model=model, scorecard=scorecard, site_secret=site_secret)
    return root([record.leaf for record in records]).hex()


def list_records(
    findings: Sequence[Finding], *, model: str, scorecard: str, site_secret: bytes
) -> list[ScoreRecord]:
    """Return the record of every instance and cell, in the order of the leaves.

    A record is canonical JSON: the digests of model and scorecard, the benchmark, metric and subgroup, the unit and
    instance (keyed hashes, hexadecimal), and the score as a hexadecimal float, or the reason why there is none. Records
    are sorted by benchmark, metric, subgroup and instance. Salts are numbered within a benchmark.

    Args:
        findings: the findings behind the submission.
        model: digest of the model.
        scorecard: digest of the scorecard.
        site_secret: the site's secret from which salts derive.
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
        IndexError: an index is out of range.
    """
    levels = _build_levels([record.leaf for record in records])
    return [
        OpenedLeaf(index, len(records), records[index], _read_proof(levels, index))
        for index in indices
    ]


def _encode(finding: Finding, score: UnitScore, *, model: str, scorecard: str) -> bytes:
    """Return the record of one score as canonical JSON."""
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
    """Return the hashes of every level of the tree, leaves first; a node without a sibling moves up unchanged."""
    levels = [list(leaf_hashes)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        level = [node_hash(below[left], below[left + 1]) for left in range(0, len(below) - 1, 2)]
        if len(below) % 2:
            level.append(below[-1])
        levels.append(level)
    return levels


def _read_proof(levels: Sequence[Sequence[bytes]], index: int) -> tuple[bytes, ...]:
    """Return the hashes of the siblings of a leaf and of the nodes above it."""
    proof: list[bytes] = []
    for level in levels[:-1]:
        sibling = index ^ 1
        if sibling < len(level):
            proof.append(level[sibling])
        index //= 2
    return tuple(proof)
