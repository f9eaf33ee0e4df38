"""What a machine that was restored, copied or robbed of a key has lost, as far as the aggregator's log shows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.delivery.outbox import LIVE, State, Submission
from agent.disclosure.ledger import Ledger, ResetEntry
from protocol.predicates import START_SEQ, LedgerHead
from protocol.site_head import SiteHead


@dataclass(frozen=True, slots=True)
class HistoryComparison:
    """The site's own history beside the aggregator's.

    Attributes:
        head: what the aggregator's log knows.
        common_seq: the last link that both surely have; 0 is the epoch's start.
        waiting_links: approved links here that follow the log's last one.
        stray_links: approved links here that do not follow from it: the log has others in their places.
        ledger: number and link of the last entry here; None where the ledger here cannot be read.
        common_entries: entries of the ledger up to here are the same on both sides.
    """

    head: SiteHead
    common_seq: int
    waiting_links: int
    stray_links: int
    ledger: LedgerHead | None
    common_entries: int

    @property
    def lost_links(self) -> int:
        """How many links the log has and this machine has not."""
        return self.head.seq - self.common_seq

    @property
    def lost_entries(self) -> int:
        """How many entries of the ledger the aggregator knows of and this machine has not, at most."""
        return self.head.ledger.length - self.common_entries

    @property
    def is_whole(self) -> bool:
        """Whether this machine has everything that the aggregator has, and may go on."""
        differs = self.lost_links or self.lost_entries or self.stray_links
        return not differs and not self.head.frozen and self.ledger is not None


def compare_histories(
    head: SiteHead, submissions: Sequence[Submission], ledger: Ledger | None
) -> HistoryComparison:
    """Compare this machine's chain and ledger with the aggregator's word.

    Args:
        head: verified, of the epoch that the registry has.
        submissions: the site's, in the order of the chain.
        ledger: the site's; None where it cannot be read.
    """
    links = [s for s in submissions if s.state in LIVE and s.header.epoch == head.epoch]
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
    """Return up to which number both ledgers surely are the same."""
    if ledger is None:
        return 0
    if ledger.holds(head.ledger):
        return head.ledger.length
    seen = [s.header.ledger for s in submissions if s.state is State.RECEIPTED]
    lengths = [seen_head.length for seen_head in seen if ledger.holds(seen_head)]
    return min(max(lengths, default=0), head.ledger.length)


def follow_with_reset(
    ledger: Ledger, comparison: HistoryComparison, *, today_day: int, set_aside: int = 0
) -> Ledger:
    """Return the ledger with the reset as its last entry, which is there already if it was asked for before.

    Args:
        ledger: the site's, or an empty one that replaces it.
        comparison: with the aggregator's word.
        today_day: days since 1970-01-01 UTC.
        set_aside: number of the last entry of a ledger that this one replaces.
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
