"""Registry versions that affect the steps of pooled sites, and the effective registry between them. Pure.

Most versions only add something: a site, a model or a key. Merging also depends on when keys were
revoked, sites left or the federation's policy changed, since that determines which sites
contributed to the board at which time. Everything else is taken from the newest version.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from aggregator.merge.accepted import RegistryChange, Result, Withdrawal
from aggregator.merge.federation import Federation
from protocol.registry import Registry, Site, parse_registry

_SITE = re.compile(rb'"(s-[0-9a-z]{8})":\{')
_SITE_KEY = re.compile(rb'"key":"([A-Za-z0-9+/=]+)","revoked_from":(-?[0-9]+)')
_FLOOR = re.compile(rb'"policy_floor":"([0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive registry versions that are equivalent for merging.

    Attributes:
        first_version: The first of these versions.
        registry: The newest version, but with the keys, sites and policy that were in force in this
            segment.
    """

    first_version: int
    registry: Registry


def divide_versions(payloads: Sequence[bytes], newest: Registry) -> list[Segment]:
    """Return the segments of a registry's history.

    Args:
        payloads: Payloads of all versions, version 1 first. Their canonical form allows comparing
            them without parsing.
        newest: The last of these versions.
    """
    signs = [_read_sign(payload) for payload in payloads]
    first_versions = [1]
    for version in range(2, len(payloads) + 1):
        if _differ(signs[version - 2], signs[version - 1]):
            first_versions.append(version)
    segments = []
    for number, first_version in enumerate(first_versions):
        if number + 1 < len(first_versions):
            last = parse_registry(payloads[first_versions[number + 1] - 2])
            segments.append(Segment(first_version, _as_it_was(newest, last)))
        else:
            segments.append(Segment(first_version, newest))
    return segments


def add_only(payloads: Sequence[bytes]) -> bool:
    """Return whether consecutive versions, given by their payloads, are all equivalent for merging."""
    signs = [_read_sign(payload) for payload in payloads]
    return not any(_differ(before, after) for before, after in pairwise(signs))


@dataclass(frozen=True, slots=True)
class _Sign:
    """The parts of a version that show, without parsing, whether anything was removed since the previous version."""

    floor: bytes
    keys: frozenset[
        tuple[bytes, bytes]
    ]  # revoked site keys, each with the log entry from which it is revoked
    sites: frozenset[bytes]


def _read_sign(payload: bytes) -> _Sign:
    floor = _FLOOR.search(payload)
    return _Sign(
        floor=b"" if floor is None else floor.group(1),
        keys=frozenset(_SITE_KEY.findall(payload)),
        sites=frozenset(_SITE.findall(payload)),
    )


def _differ(before: _Sign, after: _Sign) -> bool:
    return before.floor != after.floor or not (
        before.keys <= after.keys and before.sites <= after.sites
    )


def _as_it_was(newest: Registry, then: Registry) -> Registry:
    """Return the newest registry without the revocations, departures and policy changes made after `then`."""
    sites: dict[str, Site] = {
        site_id: site for site_id, site in then.sites.items() if site_id not in newest.sites
    }
    for site_id, site in newest.sites.items():
        earlier = then.sites[site_id].keys if site_id in then.sites else ()
        known_then = {entry.key.keyid for entry in earlier}
        later = [
            replace(entry, revoked_from=None)
            for entry in site.keys
            if entry.key.keyid not in known_then
        ]
        keys = (*earlier, *later)
        sites[site_id] = site if keys == site.keys else replace(site, keys=keys)
    return replace(
        newest,
        sites=sites,
        policy_floor=then.policy_floor,
        policies={**then.policies, **newest.policies},
    )


def date_changes(segments: Sequence[Segment], versions: Sequence[int]) -> list[RegistryChange]:
    """Return when each segment came into force.

    Args:
        segments: As returned by `divide_versions`.
        versions: Registry version under which each log entry was accepted.
    """
    changes = []
    for segment in segments:
        log_size = 0 if segment.first_version == 1 else bisect_left(versions, segment.first_version)
        changes.append(RegistryChange(log_size, segment.registry))
    return changes


class SegmentedLog:
    """A federation that switches, before each entry, to the registry version under which the entry was accepted."""

    def __init__(self, federation: Federation, coming: Sequence[Segment] = ()) -> None:
        """Start with a federation in its current segment, before the `coming` segments."""
        self._federation = federation
        self._coming = list(coming)

    def take(self, event: Result | Withdrawal) -> None:
        """Process the next statement."""
        self._federation.take(event)

    def reach(self, version: int, log_size: int) -> None:
        """Apply the registry of the segment that contains `version`.

        Args:
            version: Registry version under which the next entry was accepted.
            log_size: Number of entries before it.
        """
        while self._coming and self._coming[0].first_version <= version:
            self._federation.enter_registry(self._coming.pop(0).registry, log_size)

    def finish(self, log_size: int) -> None:
        """Apply the newest version."""
        for segment in self._coming:
            self._federation.enter_registry(segment.registry, log_size)
        self._coming = []
