"""Our own log as merging has followed it up to some size, kept in the aggregator's directory between publications.

The file spares `publish` the entries that it has read before. It is taken only by the same program, and only for a log
and a registry that continue those it was made of; otherwise everything is read anew, with the same outcome. Whoever can
write the aggregator's directory can change it as well as the database beside it: `verify` and `audit` read neither.
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
    """A log up to some size, with everything that a board is made of.

    Attributes:
        registry: the newest version when it was followed, and SHA-256 of its envelope.
        whole, shown: the results; with all of them, and with those that the public sees.
        size: number of entries.
        hidden: of them, those that the public sees as a leaf hash alone.
        assurances: what plans say.
        roots: of the log by size; of `size`, and of earlier sizes that were asked for.
        bundles: SHA-256 of each full bundle of entries as published.
        peaks: of the tree over the entries in full bundles.
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
        """Both states."""
        return self.whole, self.shown


def write_followed_log(directory: Path, log: FollowedLog) -> None:
    """Keep a log in the aggregator's directory. Raises OSError."""
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
    """Return the log that was kept; None without one, or where anything about the file is doubtful.

    Whether it is the beginning of the present log is left to the reader of that.

    Args:
        directory: the aggregator's.
        registry: the newest.
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
    """Return a digest of this program's text: what another version has followed may mean something else."""
    digest = hashlib.sha256(numpy.__version__.encode())
    for package in (aggregator, protocol):
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob("*.py")):
            digest.update(
                f"{path.relative_to(folder.parent)}\0".encode() + path.read_bytes() + b"\0"
            )
    return digest.hexdigest()
