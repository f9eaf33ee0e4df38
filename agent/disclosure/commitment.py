"""The commitment to every score behind a submission: a salted Merkle root (protocol, section 6).

It binds the site to its records without telling anything about them: without the salts, which come from the site's
data key, not even the number of records follows, and no guessed record can be checked against the root.
"""

from collections.abc import Sequence

from agent.disclosure.findings import Finding
from protocol.canonical import canonical
from protocol.merkle import record_salt, salted_root


def scores_root(findings: Sequence[Finding], *, model: str, scorecard: str, site_secret: bytes) -> str:
    """Return the root over one record an instance and cell, as 64 hex digits; the same for the same scores.

    A record is canonical JSON: model and scorecard digest, benchmark, metric, subgroup, unit and instance (keyed
    hashes, hexadecimal), and the score as a hexadecimal float, or the reason why there is none. Records are in the
    order of benchmark, metric, subgroup and instance; salts are counted within a benchmark.
    """
    records: list[bytes] = []
    salts: list[bytes] = []
    counts: dict[str, int] = {}
    for finding in sorted(findings, key=lambda f: (f.benchmark, f.metric, f.subgroup or "")):
        for score in sorted(finding.scores, key=lambda s: s.instance_key):
            outcome = float(score.value).hex() if score.value is not None else str(score.reason)
            records.append(
                canonical(
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
            )
            index = counts[finding.benchmark] = counts.get(finding.benchmark, -1) + 1
            salts.append(record_salt(site_secret, finding.benchmark, index))
    return salted_root(records, salts).hex()
