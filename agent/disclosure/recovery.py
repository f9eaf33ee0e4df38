"""Compare the history of a restored or copied machine with the aggregator's log, and plan a reset. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.delivery.outbox import LIVE, State, Submission
from agent.disclosure.ledger import Ledger, ResetEntry
from protocol.predicates import START_SEQ, LedgerHead
from protocol.site_head import SiteHead


@dataclass(frozen=True, slots=True)
class HistoryComparison:
    """A comparison of the site's own history with the aggregator's log.

    Attributes:
        head: head of the site's chain in the aggregator's log.
        common_seq: sequence number of the last link that both are sure to have; 0 is the epoch's start.
        waiting_links: number of approved links here that follow the last one in the log.
        stray_links: number of approved links here that do not follow it, because the log has other links in their
            positions.
        ledger: number and hash of the last ledger entry on this machine; None if the ledger cannot be read.
        common_entries: number up to which ledger entries are the same on both sides.
    """

    head: SiteHead
    common_seq: int
    waiting_links: int
    stray_links: int
    ledger: LedgerHead | None
    common_entries: int

    @property
    def lost_links(self) -> int:
        """The number of links that the log has but this machine lacks."""
        return self.head.seq - self.common_seq

    @property
    def lost_entries(self) -> int:
        """The largest possible number of ledger entries that the aggregator has seen but this machine lacks."""
        return self.head.ledger.length - self.common_entries

    @property
    def is_whole(self) -> bool:
        """Whether this machine has everything that the aggregator has, so that it needs no reset."""
        differs = self.lost_links or self.lost_entries or self.stray_links
        return not differs and not self.head.frozen and self.ledger is not None


def compare_histories(
    head: SiteHead, submissions: Sequence[Submission], ledger: Ledger | None
) -> HistoryComparison:
    """Compare this machine's chain and ledger with the aggregator's note.

    Args:
        head: the verified head in the aggregator's note, for the epoch in the registry.
        submissions: the site's submissions in the order of the chain.
        ledger: the site's ledger; None if it cannot be read.
    """
    links = [
        submission
        for submission in submissions
        if submission.state in LIVE and submission.header.epoch == head.epoch
    ]
    common = START_SEQ
    for link in links:
        if link.state is State.RECEIPTED or link.digest == head.digest:
            common = max(common, link.header.seq)
    common = min(common, head.seq)
    last_digest = head.digest if common == head.seq else ""
    waiting, stray = 0, 0
    for link in links:
        if link.state in {State.RECEIPTED, State.REFUSED} or link.header.seq <= common:
            continue
        if last_digest and link.header.prev == last_digest:
            waiting, last_digest = waiting + 1, link.digest
        else:
            stray += 1
    return HistoryComparison(
        head=head,
        common_seq=common,
        waiting_links=waiting,
        stray_links=stray,
        ledger=None if ledger is None else ledger.head,
        common_entries=_count_common_entries(head, submissions, ledger),
    )


def _count_common_entries(
    head: SiteHead, submissions: Sequence[Submission], ledger: Ledger | None
) -> int:
    """Return the number up to which both ledgers are sure to be the same."""
    if ledger is None:
        return 0
    if ledger.holds(head.ledger):
        return head.ledger.length
    seen = [
        submission.header.ledger
        for submission in submissions
        if submission.state is State.RECEIPTED
    ]
    lengths = [seen_head.length for seen_head in seen if ledger.holds(seen_head)]
    return min(max(lengths, default=0), head.ledger.length)


def follow_with_reset(
    ledger: Ledger, comparison: HistoryComparison, *, today_day: int, set_aside: int = 0
) -> Ledger:
    """Return the ledger with the reset as its last entry, unless the same reset is there already.

    Args:
        ledger: the site's ledger, or an empty one that replaces it.
        comparison: the comparison with the aggregator's log.
        today_day: days since 1970-01-01 UTC.
        set_aside: number of the last entry in the ledger that an empty one replaces; 0 if it is not replaced.
    """
    epoch = comparison.head.epoch + 1
    known = comparison.head.ledger.length
    last = ledger.entries[-1] if ledger.entries else None
    if (
        last is not None
        and isinstance(last.content, ResetEntry)
        and last.content.epoch == epoch
        and last.number > known
    ):
        return ledger
    number = max(ledger.head.length, known, set_aside) + 1
    lost_from = (
        comparison.common_entries + 1 if comparison.lost_entries or not ledger.entries else number
    )
    if set_aside:
        lost_from = 1
    return ledger.followed_by(ResetEntry(epoch, lost_from), today_day, number=number)
