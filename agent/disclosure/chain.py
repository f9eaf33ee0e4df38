"""The site's chain as its outbox holds it: where it ends, and what may follow."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.delivery.outbox import LIVE, Outbox, State, Submission
from agent.disclosure.ledger import Ledger
from agent.errors import DisclosureError
from protocol.predicates import START_SEQ, Header, LedgerHead, WithdrawPredicate
from protocol.registry import Registry, Site


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """The place of the next link. `ledger_length` is what the link before it says: later ones never say less."""

    epoch: int
    seq: int
    prev: str
    ledger_length: int = 0

    def after(self, submission: Submission) -> "ChainEnd":
        """Return the place after a link that takes this one."""
        return ChainEnd(
            self.epoch, self.seq + 1, submission.digest, submission.header.ledger.length
        )

    def leads_to(self, submission: Submission) -> bool:
        """Whether a submission has exactly this place."""
        header = submission.header
        return (header.epoch, header.seq, header.prev) == (self.epoch, self.seq, self.prev)

    def header(self, registry: Registry, site: str, ledger: LedgerHead) -> Header:
        """Return the header of a link in this place."""
        return Header(
            registry.deployment, site, self.epoch, self.seq, self.prev, registry.version, ledger
        )


def find_first_place(site: Site) -> ChainEnd:
    """Return the place after the start of the site's present epoch."""
    return ChainEnd(site.epoch, START_SEQ + 1, site.start)


def settle_chain(outbox: Outbox, site: Site, submissions: Sequence[Submission]) -> ChainEnd:
    """Return the chain's end. A refused link, and what was approved after it, becomes void: it will not be sent.

    Links of an earlier epoch are history; those of them that have no receipt are void too.

    Raises:
        DisclosureError: a link with a receipt does not follow from the one before it, or a rotation of a key waits.
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
            # Whatever follows it would be signed with a key that ends with it.
            raise DisclosureError(
                "a rotation of a key waits for the aggregator's people",
                "After they have put it in force, run `intramural registry update` and `intramural submission send`. "
                "If it never will be, take it back with `intramural rotate cancel`.",
            )
        if submission.header.epoch < site.epoch:
            if submission.state is not State.RECEIPTED:
                outbox.make_void(submission.digest)
        elif submission.state is State.REFUSED or not end.leads_to(submission):
            if submission.state is State.RECEIPTED:
                raise DisclosureError(
                    "a submission with a receipt does not follow from the one before it",
                    "The folder submissions was restored from an old back-up, or mixed with another site's: "
                    "`intramural reset` says what the aggregator knows and starts a new epoch.",
                )
            outbox.make_void(submission.digest)
        else:
            end = end.after(submission)
    return end


def select_standing_links(submissions: Sequence[Submission]) -> list[Submission]:
    """Return the links of the chain without the results that another link withdraws."""
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
    """Check that the ledger has everything that any submission here says of it.

    A ledger that was begun anew with a reset need not have what submissions of earlier epochs say; it counts once the
    registry has that reset's epoch, which people at both ends have agreed to.

    Raises:
        DisclosureError: it lacks something, or was begun anew by a reset that is not in force.
    """
    if ledger.began_in > site.epoch:
        raise DisclosureError(
            "the ledger of releases was begun anew by a reset that is not in force yet",
            "Have the reset request signed by the steward and sent (`intramural reset send`); after the aggregator's "
            "people have put it in force, run `intramural registry update`.",
        )
    for submission in submissions:
        if submission.header.epoch >= ledger.began_in and not ledger.holds(
            submission.header.ledger
        ):
            raise DisclosureError(
                f"the ledger of releases lacks entry {submission.header.ledger.length}, which submission "
                f"{submission.digest[:12]} names: it was cut, or restored from an old back-up",
                "Nothing leaves until the folder submissions/ledger is restored; if no back-up has it, "
                "`intramural reset` starts a new epoch.",
            )
