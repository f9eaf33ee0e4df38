"""Send what the steward approved, at a person's request; the command line and the pages call the same functions."""

from collections.abc import Sequence
from typing import Final

from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.send import list_waiting, send
from agent.disclosure.approval import Audit
from agent.disclosure.restored_site import require_own_history
from agent.disclosure.site_gate import connect_aggregator, read_newest_registry
from agent.errors import DisclosureError
from agent.site.directory import Site
from protocol.predicates import FIRST_EPOCH

_NOT_SENDABLE: Final = frozenset({State.PREPARED, State.VOID})


def list_unsent(site: Site) -> list[Submission]:
    """Return all approved statements of the site's present epoch that lack a receipt, in the order of the chain.

    Raises:
        ConfigError: the site is not enrolled, but has statements.
        DisclosureError: a stored file was changed.
    """
    outbox = Outbox(site.submissions)
    if not outbox.list_submissions():
        return []
    membership = Federation(site.submissions).read_membership()
    registry = read_newest_registry(site)
    entry = None if registry is None else registry.sites.get(membership.site)
    return list_waiting(outbox, FIRST_EPOCH if entry is None else entry.epoch)


def choose_unsent(site: Site, digest: str | None) -> list[Submission]:
    """Return one statement, or else all that wait to be sent.

    Args:
        site: the site.
        digest: at least the first 8 characters of the statement's digest; None for all.

    Raises:
        DisclosureError: the statement is not approved, or there is none with this digest.
    """
    if digest is None:
        return list_unsent(site)
    chosen = Outbox(site.submissions).find(digest)
    if chosen.state in _NOT_SENDABLE:
        raise DisclosureError(
            f"submission {chosen.digest[:12]} is {chosen.state.value}, so it cannot be sent",
            "Approve a draft first, with `intramural submission approve`.",
        )
    return [chosen]


def send_chosen(
    site: Site, chosen: Sequence[Submission], today_day: int, audit: Audit
) -> list[Submission]:
    """Send statements to the aggregator, and return those that have an answer; see `agent.delivery.send.send`.

    Raises:
        DisclosureError: the site was restored, and not compared with the aggregator's log since.
        ConfigError: the site is not enrolled, or no address of the aggregator is known.
        DeliveryError: a statement could not be delivered, or the aggregator refused it; later ones were not sent.
    """
    require_own_history(site)
    federation = Federation(site.submissions)
    aggregator = connect_aggregator(site, federation.read_membership().url)
    registry = federation.read_registry(today_day)
    outbox = Outbox(site.submissions)
    return send(outbox, registry, aggregator, chosen, today_day=today_day, audit=audit)
