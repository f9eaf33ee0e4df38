"""Keep what the capability probe found for each deployment, so that it can be shown without asking the server again.

probes/DIGEST.json   one file for each deployment; addresses of servers are not stored
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from agent.errors import StoreError
from agent.inference.capabilities import Capabilities
from agent.io.atomic_files import read_bounded, write_atomically

_MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class KeptProbe:
    """The outcome of one probe.

    Attributes:
        deployment: name of the deployment.
        probed_at: when it was probed, in seconds since 1970.
        capabilities: what was found; None if the server could not be probed.
        problem: why it could not be probed; empty if it was.
    """

    deployment: str
    probed_at: float
    capabilities: Capabilities | None = None
    problem: str = ""


def write_probe(folder: Path, probe: KeptProbe) -> None:
    """Keep the outcome of a probe in place of an earlier one. Raises StoreError if it cannot be written."""
    folder.mkdir(mode=0o700, exist_ok=True)
    capabilities = probe.capabilities
    content = {
        "deployment": probe.deployment,
        "probed_at": probe.probed_at,
        "capabilities": None if capabilities is None else capabilities.to_json(),
        "problem": probe.problem,
    }
    write_atomically(_find_file(folder, probe.deployment), json.dumps(content).encode())


def read_probe(folder: Path, deployment: str) -> KeptProbe | None:
    """Return the newest outcome for a deployment; None if there is none, or if its file cannot be read."""
    try:
        content = json.loads(read_bounded(_find_file(folder, deployment), _MAX_BYTES, "the probe"))
        found = content["capabilities"]
        return KeptProbe(
            deployment=deployment,
            probed_at=float(content["probed_at"]),
            capabilities=None if found is None else Capabilities.from_json(found),
            problem=str(content["problem"]),
        )
    except (StoreError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _find_file(folder: Path, deployment: str) -> Path:
    return folder / f"{hashlib.sha256(deployment.encode()).hexdigest()[:32]}.json"
