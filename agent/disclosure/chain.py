"""The site's chain of submissions in its outbox: where it ends, and which links are valid."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.delivery.outbox import LIVE, Outbox, State, Submission
from agent.disclosure.ledger import Ledger
from agent.errors import DisclosureError
from protocol.predicates import START_SEQ, Header, LedgerHead, WithdrawPredicate
from protocol.registry import Registry, Site


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """The position of the next link. `ledger_length` is that of the previous link: it never decreases."""

    epoch: int
    seq: int
    prev: str
    ledger_length: int = 0

    def after(self, submission: Submission) -> "ChainEnd":
        """Return the position after `submission`, which occupies this position."""
        return ChainEnd(
            self.epoch, self.seq + 1, submission.digest, submission.header.ledger.length
        )

    def leads_to(self, submission: Submission) -> bool:
        """Return whether a submission has exactly this position."""
        header = submission.header
        return (header.epoch, header.seq, header.prev) == (self.epoch, self.seq, self.prev)

    def header(self, registry: Registry, site: str, ledger: LedgerHead) -> Header:
        """Return the header of a link at this position."""
        return Header(
            registry.deployment, site, self.epoch, self.seq, self.prev, registry.version, ledger
        )


def find_first_place(site: Site) -> ChainEnd:
    """Return the position after the start of the site's current epoch."""
    return ChainEnd(site.epoch, START_SEQ + 1, site.start)


def settle_chain(outbox: Outbox, site: Site, submissions: Sequence[Submission]) -> ChainEnd:
    """Mark as void the links that can no longer be sent, and return the end of the chain.

    A refused link and the approved links after it become void, and so do links of earlier epochs without a receipt.

    Raises:
        DisclosureError: a link with a receipt does not follow from the one before it, or a key rotation is pending.
    """
    end = find_first_place(site)
    for submission in submissions:
        if submission.state not in LIVE:
            continue
        if (
            submission.kind == "rotate"
            and submission.state is State.SENT
            and submission.header.epoch == site.epoch
        ):
            # Later links would be signed with a key that the rotation retires.
            raise DisclosureError(
                "a key rotation is waiting for the central team",
                "After it is in force, run `intramural registry update` and `intramural submission send`. "
                "If the team declines it, cancel it with `intramural rotate cancel`.",
            )
        if submission.header.epoch < site.epoch:
            if submission.state is not State.RECEIPTED:
                outbox.make_void(submission.digest)
        elif submission.state is State.REFUSED or not end.leads_to(submission):
            if submission.state is State.RECEIPTED:
                raise DisclosureError(
                    "a submission with a receipt does not follow from the one before it",
                    "The folder submissions was restored from an old backup, or mixed with another site's. "
                    "`intramural reset` compares it with the aggregator's log and starts a new epoch.",
                )
            outbox.make_void(submission.digest)
        else:
            end = end.after(submission)
    return end


def select_standing_links(submissions: Sequence[Submission]) -> list[Submission]:
    """Return the links of the chain, except results that another link withdraws."""
    live = [submission for submission in submissions if submission.state in LIVE]
    withdrawn = set()
    for submission in live:
        if (
            isinstance(submission.statement, WithdrawPredicate)
            and submission.state is not State.REFUSED
        ):
            withdrawn.add(submission.statement.result)
    return [submission for submission in live if submission.digest not in withdrawn]


def check_ledger(ledger: Ledger, submissions: Sequence[Submission], site: Site) -> None:
    """Check that the ledger contains the ledger head that each submission here refers to.

    A ledger that was restarted by a reset need not contain the heads in submissions of earlier epochs. It is valid once
    the registry shows the reset's epoch, to which the site's steward and the central team have agreed.

    Raises:
        DisclosureError: the ledger lacks an entry, or was restarted by a reset that is not in force.
    """
    if ledger.began_in > site.epoch:
        raise DisclosureError(
            "the ledger of releases was restarted by a reset that is not in force yet",
            "Have the reset request signed by the steward and sent (`intramural reset send`). After the central team "
            "has put it in force, run `intramural registry update`.",
        )
    for submission in submissions:
        if submission.header.epoch >= ledger.began_in and not ledger.holds(
            submission.header.ledger
        ):
            raise DisclosureError(
                f"the ledger of releases lacks entry {submission.header.ledger.length}, which submission "
                f"{submission.digest[:12]} names: it was truncated, or restored from an old backup",
                "Nothing is submitted until the folder submissions/ledger is restored. If no backup has it, "
                "`intramural reset` starts a new epoch.",
            )
