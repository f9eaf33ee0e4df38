"""Keyed hashes that identify runs, requests, instances and units at this site, and reveal nothing elsewhere."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from agent.store.codec import encode_question
from agent.store.vault import Vault
from agent.vocabulary import Instance


class PlanDigest:
    """A SHA-256 digest over the instances and request keys of a run, to which instances are added one by one."""

    def __init__(self, scored_by: Sequence[str]) -> None:
        self._whole = hashlib.sha256(json.dumps(list(scored_by)).encode())

    def add(self, encoded: bytes, request_key: bytes) -> None:
        """Add the next instance, encoded by `encode_question`."""
        self._whole.update(len(encoded).to_bytes(8, "big") + encoded + request_key)

    def digest(self) -> bytes:
        """Return the digest of all instances so far, 32 bytes."""
        return self._whole.digest()


class Identities:
    """Computes keyed hashes under the site's data key; without the key, no hash can be computed or inverted."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def run_id(self, suite: str, name: str) -> str:
        """Return the run's id, which depends only on the site's key, the suite and the run's name."""
        return self._vault.keyed_hash("run", f"{suite}\0{name}".encode()).hex()[:16]

    def suite_mark(self, suite: str) -> str:
        """Return a word that stands for a suite where its name may not be read. No suite has it as a name."""
        return (
            "~" + self._vault.keyed_hash("suite", suite.encode("utf-8", "surrogatepass")).hex()[:16]
        )

    def request_key(self, deployment: str, body: bytes) -> bytes:
        """Return the keyed hash of the exact request `body` to `deployment`."""
        return self._vault.keyed_hash("request", deployment.encode() + b"\0" + body)

    def judgement_key(self, deployment: str, body: bytes) -> bytes:
        """Return the keyed hash of the exact first request `body` to the judge served as `deployment`."""
        return self._vault.keyed_hash("judgement", deployment.encode() + b"\0" + body)

    def instance_key(self, benchmark: str, instance_id: str) -> bytes:
        """Return the keyed hash that identifies an instance on every page and in every file that people see."""
        return self._vault.keyed_hash("instance", f"{benchmark}\0{instance_id}".encode())

    def unit_key(self, lineage: str, unit: str) -> bytes:
        """Return the keyed hash that identifies a patient or document; the same in all benchmarks of a lineage."""
        return self._vault.keyed_hash("unit", f"{lineage}\0{unit}".encode())

    def rater_key(self, calibration: str, rater: str) -> bytes:
        """Return the keyed hash that identifies a clinician within one calibration."""
        return self._vault.keyed_hash(
            "rater", calibration.encode() + b"\0" + rater.encode("utf-8", "surrogatepass")
        )

    def answer_mark(self, answer: str) -> str:
        """Return 64 hex digits that identify an answer."""
        return self._vault.keyed_hash(
            "calibrated answer", answer.encode("utf-8", "surrogatepass")
        ).hex()

    def fence_marker(self, text: bytes) -> str:
        """Return 16 hex digits for `text` that only this site can compute, and not the text's author."""
        return self._vault.keyed_hash("fence", text).hex()[:16]

    def plan_digest(
        self, planned: Iterable[tuple[Instance, bytes]], scored_by: Sequence[str]
    ) -> bytes:
        """Return the keyed hash of a run's questions and scoring; equal plans need no repeated work.

        Args:
            planned: each instance with its request key, in order.
            scored_by: names of the metrics and the scoring rules.
        """
        plan = PlanDigest(scored_by)
        for instance, request_key in planned:
            plan.add(encode_question(instance), request_key)
        return self.key_plan(plan)

    def key_plan(self, plan: PlanDigest) -> bytes:
        """Return the keyed hash of a plan from its finished digest."""
        return self._vault.keyed_hash("plan", plan.digest())
