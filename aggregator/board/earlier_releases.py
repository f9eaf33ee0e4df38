"""Recomputation of earlier releases from the log as it was when they were published.

A release records the size of the log and the registry version in force. Anyone who has the log up
to that size can rebuild its board and compare the stored figures. Figures are stored for the newest
releases only. Older releases have only a digest in the list, which is not recomputed here.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from aggregator.board.evidence import Replayed
from aggregator.board.releases import (
    RELEASES_FILE,
    SUMMARY_FILE,
    BoardOrigin,
    Release,
    Releases,
    summarize,
)
from aggregator.board.tables import json_file
from aggregator.errors import BoardMismatchError
from aggregator.merge.accepted import Result, Withdrawal
from aggregator.merge.board_model import AuditedFigures
from aggregator.merge.federation import Federation
from aggregator.merge.registry_segments import add_only, date_changes, divide_versions
from aggregator.merge.table import follow_log, make_audited, make_board
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.registry import Registry, parse_registry

_ADVICE = (
    "Do not rely on this board, and do not sign it. Tell the people who run the board. If another version of this "
    "program published that release, they must begin a new list: move releases.json and the folder releases out of the "
    "aggregator's directory, and publish to a new folder."
)


@dataclass(frozen=True, slots=True)
class CheckedReleases:
    """The numbers of the releases before a board, by how far they could be checked.

    Attributes:
        recomputed: Their figures match the log.
        unread: Their figures depend on hidden entries, which only auditors can check.
        older: Only their digests are stored. They have not been checked.
    """

    recomputed: tuple[int, ...] = ()
    unread: tuple[int, ...] = ()
    older: tuple[int, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Return a sentence for each group that has releases."""
        said = []
        if self.recomputed:
            said.append(
                f"Earlier releases recomputed from the log: {_name_range(self.recomputed)}."
            )
        if self.unread:
            said.append(
                f"Earlier releases whose figures rely on auditors: {_name_range(self.unread)}."
            )
        if self.older:
            said.append(
                f"Older releases, listed by digest only and not checked: {_name_range(self.older)}."
            )
        return said


def recompute_releases(
    releases: Releases, registries: Sequence[bytes], shown: Replayed, whole: Replayed | None = None
) -> CheckedReleases:
    """Rebuild every earlier board that has stored figures, as far as the available log allows, and compare the figures.

    Args:
        releases: The releases of a board, ending with its own. Call `Kept.check_roots` first,
            to confirm that they belong to this log.
        registries: Every registry version as signed.
        shown: The public log.
        whole: The same log with all entries readable; None for a reader who has only the public log.

    Raises:
        BoardMismatchError: names a release that does not match the log.
    """
    recomputed, unread, older = [], [], []
    history = _History(registries, shown, whole)
    for release in releases.entries[:-1]:
        if release.number not in releases.summaries:
            older.append(release.number)
        elif (
            whole is None and shown.shown_until is not None and shown.shown_until < release.log_size
        ):
            unread.append(release.number)
        else:
            history.check(release)
            recomputed.append(release.number)
    return CheckedReleases(tuple(recomputed), tuple(unread), tuple(older))


class _History:
    """The log as it was at earlier sizes, which must be requested in ascending order."""

    def __init__(
        self, registries: Sequence[bytes], shown: Replayed, whole: Replayed | None
    ) -> None:
        self._registries = registries
        self._shown = _FollowedLog(shown)
        self._whole = None if whole is None else _FollowedLog(whole)
        self._payloads: list[bytes] = []  # of the versions that have been needed so far

    def check(self, release: Release) -> None:
        """Compare a release with the board recomputed from the log. Raises BoardMismatchError."""
        if not 1 <= release.registry <= len(self._registries):
            raise BoardMismatchError(
                f"release {release.number} names a registry version that does not exist", _ADVICE
            )
        for envelope in self._registries[len(self._payloads) : release.registry]:
            self._payloads.append(decode(envelope, REGISTRY_TYPE).payload)
        registry = parse_registry(self._payloads[release.registry - 1])
        payloads = self._payloads[: release.registry]
        if self._whole is None:
            audited = AuditedFigures(release.log_size)
        else:
            audited = make_audited(
                self._whole.follow(release.log_size, registry, payloads), release.log_size
            )
        board = make_board(self._shown.follow(release.log_size, registry, payloads), audited)
        head = BoardOrigin(release.log_size, release.log_root, release.registry)
        if sha256(summarize(board)).hexdigest() != release.summary:
            name = SUMMARY_FILE.format(number=release.number)
            raise BoardMismatchError(
                f"{name} does not match the first {release.log_size} log entries", _ADVICE
            )
        if sha256(json_file(board, registry, head)).hexdigest() != release.board:
            raise BoardMismatchError(
                f"{RELEASES_FILE}: release {release.number} does not match the board of the first "
                f"{release.log_size} log entries",
                _ADVICE,
            )


class _FollowedLog:
    """A log whose computed results are kept between releases, because most models do not change in between."""

    def __init__(self, log: Replayed) -> None:
        self._versions = log.versions
        self._events: list[Result | Withdrawal] = [*log.results, *log.withdrawals]
        self._events.sort(key=lambda event: event.position)
        self._federation: Federation | None = None
        self._size = self._version = 0

    def follow(self, size: int, registry: Registry, payloads: Sequence[bytes]) -> Federation:
        """Return the state after `size` entries under `registry`, whose versions have these `payloads`."""
        if self._federation is not None and self._is_continued(
            self._federation, size, registry, payloads
        ):
            self._federation.registry = registry
            for event in self._events_between(self._size, size):
                self._federation.take(event)
        else:
            changes = date_changes(divide_versions(payloads, registry), self._versions[:size])
            events = self._events_between(0, size)
            results = [event for event in events if isinstance(event, Result)]
            withdrawals = [event for event in events if isinstance(event, Withdrawal)]
            self._federation = follow_log(results, registry, withdrawals, changes)
        self._size, self._version = size, registry.version
        return self._federation

    def _is_continued(
        self, federation: Federation, size: int, registry: Registry, payloads: Sequence[bytes]
    ) -> bool:
        """Return whether continuing gives the same result as starting over, because the registry
        has revoked nothing since.
        """
        if (
            federation.unknown
            or not {card for card, _ in federation.models} <= registry.scorecards.keys()
        ):
            return False
        if self._size < size and self._versions[self._size] < self._version:
            return False
        return add_only(payloads[self._version - 1 :])

    def _events_between(self, start: int, end: int) -> list[Result | Withdrawal]:
        first, last = (
            bisect_left(self._events, size, key=lambda event: event.position)
            for size in (start, end)
        )
        return self._events[first:last]


def _name_range(numbers: tuple[int, ...]) -> str:
    """Return the numbers as a range in words. Within each group they are consecutive, or nearly so."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))
