"""The merged state of our own log up to some size, stored in the aggregator's directory between publications.

With this file `publish` need not read earlier entries again. It is used only by the same version of
the program, and only if the log and the registry continue those that it was made from. Otherwise
everything is read again, with the same result. Anyone who can write to the aggregator's directory
can change this file, just like the database next to it; `verify` and `audit` read neither.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy

import aggregator
import protocol
from aggregator.board.array_file import read_array_file, write_array_file
from aggregator.merge.accepted import Assurances
from aggregator.merge.federation import Federation
from aggregator.merge.stored_federation import Array, restore_federation, store_federation
from protocol.errors import ProtocolError
from protocol.merkle import root
from protocol.registry import Registry

FOLLOWED_FILE: Final = "followed-log"
_DOUBTS: Final = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    ProtocolError,
)


@dataclass(slots=True)
class FollowedLog:
    """A log up to some size, with everything needed to build a board.

    Attributes:
        registry: The newest registry version at that size, and the SHA-256 of its envelope.
        whole, shown: The merged state of all results, and of the public ones.
        size: Number of entries.
        hidden: Number of entries of which the public sees only the leaf hash.
        assurances: The assurances stated by plans.
        roots: Roots of the log at `size` and at the requested earlier sizes, by size.
        bundles: SHA-256 of each full bundle of entries as published.
        peaks: The peaks of the tree over the entries in full bundles.
    """

    whole: Federation
    shown: Federation
    registry: tuple[int, str] = 0, ""
    size: int = 0
    hidden: int = 0
    assurances: Assurances = field(default_factory=Assurances)
    roots: dict[int, bytes] = field(default_factory=lambda: {0: root([])})
    bundles: list[str] = field(default_factory=list)
    peaks: tuple[bytes, ...] = ()

    @property
    def federations(self) -> tuple[Federation, Federation]:
        """The merged state of all results, and that of the public ones."""
        return self.whole, self.shown


def write_followed_log(directory: Path, log: FollowedLog) -> None:
    """Store a followed log in the aggregator's directory. Raises OSError."""
    arrays: list[Array] = []

    def put(array: Array) -> int:
        arrays.append(array)
        return len(arrays) - 1

    values = {
        "program": _digest_program(),
        "registry": list(log.registry),
        "size": log.size,
        "hidden": log.hidden,
        "plans": log.assurances.plans,
        "roots": {str(size): known.hex() for size, known in log.roots.items()},
        "bundles": log.bundles,
        "peaks": [peak.hex() for peak in log.peaks],
        "whole": store_federation(log.whole, put),
        "shown": store_federation(log.shown, put),
    }
    write_array_file(directory / FOLLOWED_FILE, values, arrays)


def read_followed_log(directory: Path, registry: Registry) -> FollowedLog | None:
    """Return the stored log; None if there is none or the file is not usable.

    The caller must check that the current log continues it.

    Args:
        directory: The aggregator's directory.
        registry: The newest registry version.
    """
    try:
        values, arrays = read_array_file(directory / FOLLOWED_FILE)
        return (
            _restore(values, arrays, registry) if values["program"] == _digest_program() else None
        )
    except _DOUBTS:
        return None


def _restore(values: dict[str, Any], arrays: list[Array], registry: Registry) -> FollowedLog:
    version, digest = values["registry"]
    plans = {
        plan: (assurance, is_hidden) for plan, (assurance, is_hidden) in values["plans"].items()
    }
    return FollowedLog(
        registry=(version, digest),
        whole=restore_federation(values["whole"], arrays, registry),
        shown=restore_federation(values["shown"], arrays, registry),
        size=values["size"],
        hidden=values["hidden"],
        assurances=Assurances(plans),
        roots={int(size): bytes.fromhex(known) for size, known in values["roots"].items()},
        bundles=values["bundles"],
        peaks=tuple(bytes.fromhex(peak) for peak in values["peaks"]),
    )


@cache
def _digest_program() -> str:
    """Return a digest of this program's source code, since another version may store a different state."""
    digest = hashlib.sha256(numpy.__version__.encode())
    for package in (aggregator, protocol):
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob("*.py")):
            digest.update(
                f"{path.relative_to(folder.parent)}\0".encode() + path.read_bytes() + b"\0"
            )
    return digest.hexdigest()
