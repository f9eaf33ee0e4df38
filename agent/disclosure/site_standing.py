"""The standing of this site: its chain and ledger, compared with the aggregator's signed head of its chain."""

from dataclasses import dataclass

from agent.delivery.departure import list_site_keys
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox
from agent.delivery.site_heads import (
    CARRIED_HEAD_ADVICE,
    collect_receipts,
    fetch_site_head,
    open_site_head,
)
from agent.disclosure.ledger import Ledger
from agent.disclosure.ledger_report import read_site_ledger
from agent.disclosure.recovery import HistoryComparison, compare_histories
from agent.disclosure.site_gate import connect_aggregator
from agent.errors import ConfigError, DisclosureError, StoreError
from agent.site.directory import Site
from agent.site.new_keys import load_agent_keys
from protocol.keys import Signer
from protocol.registry import Registry


@dataclass(frozen=True, slots=True)
class SiteStanding:
    """The standing of this site: its registry, id and ledger, compared with the aggregator's head of its chain.

    Attributes:
        ledger_fault: the reason why the ledger cannot be read; "" if it can.
    """

    registry: Registry
    site_id: str
    ledger: Ledger | None
    ledger_fault: str
    comparison: HistoryComparison


def read_standing(site: Site, carried_head: str | None, today_day: int) -> SiteStanding:
    """Compare this machine with the aggregator's signed head of the chain.

    Receipts that this machine lacks are fetched first, unless the head was carried here.

    Args:
        site: the site.
        carried_head: the text of the head that came as a file; None to fetch it.
        today_day: days since 1970-01-01 UTC.

    Raises:
        ConfigError: the site is not enrolled, or lacks the agent's key for the request.
        DeliveryError: the aggregator cannot be reached, or its signed head does not verify.
        StoreError: a file cannot be read.
    """
    federation, outbox = Federation(site.submissions), Outbox(site.submissions)
    registry, membership = federation.read_registry(today_day), federation.read_membership()
    if membership.site not in registry.sites:
        raise ConfigError(
            "the registry does not contain this site", "Run `intramural registry update`."
        )
    note = carried_head
    if note is None:
        agent = _find_registered_agent(site, registry, membership.site)
        aggregator = connect_aggregator(site, membership.url)
        note = fetch_site_head(aggregator, registry.deployment, membership.site, agent)
        head = open_site_head(note, outbox, registry, membership.site)
        collect_receipts(outbox, registry, aggregator, membership.site, agent)
    else:
        head = open_site_head(note, outbox, registry, membership.site)
    ledger, fault = _try_read_ledger(site)
    comparison = compare_histories(head, outbox.list_submissions(), ledger)
    return SiteStanding(registry, membership.site, ledger, fault, comparison)


def _find_registered_agent(site: Site, registry: Registry, site_id: str) -> Signer:
    """Return this machine's agent key that the registry names; the aggregator answers only to it.

    Raises:
        ConfigError: there is none, because the key was lost, replaced or revoked, or it cannot be read.
    """
    registered = list_site_keys(registry, site_id, "agent")
    try:
        signers = load_agent_keys(site.keys)
    except StoreError as error:
        raise ConfigError(
            f"the aggregator cannot be asked without the agent's key: {error}",
            f"{error.advice} {CARRIED_HEAD_ADVICE}",
        ) from None
    for signer in signers:
        if signer.public.keyid in registered:
            return signer
    raise ConfigError(
        "this machine has no agent key that the registry names, and the aggregator answers only to such a key",
        f"Run `intramural registry update` if a key was replaced. {CARRIED_HEAD_ADVICE}",
    )


def _try_read_ledger(site: Site) -> tuple[Ledger | None, str]:
    try:
        return read_site_ledger(site), ""
    except DisclosureError as error:
        return None, str(error)


def describe_history(standing: SiteStanding) -> list[str]:
    """Return what the aggregator's log and this machine have, and what is lost here, one sentence a line."""
    comparison, head = standing.comparison, standing.comparison.head
    lines = [
        f"In the aggregator's log ({head.log_size} entries) this site's last link is {head.seq} of epoch {head.epoch}, "
        f"with {head.ledger.length} ledger entries"
        + ("; the site is frozen after a fork." if head.frozen else "."),
        f"This machine agrees with it up to link {comparison.common_seq}"
        + _format_if_any(
            comparison.waiting_links,
            "; {} statement approved here follows it",
            "; {} statements approved here follow it",
        )
        + _format_if_any(
            comparison.stray_links,
            "; {} statement approved here no longer fits the chain",
            "; {} statements approved here no longer fit the chain",
        )
        + ".",
    ]
    if standing.ledger is None:
        lines.append(f"The ledger here cannot be read: {standing.ledger_fault}.")
    elif comparison.ledger is not None:
        lines.append(f"The ledger here has {comparison.ledger.length} entries.")
    lost = [
        _format_if_any(comparison.lost_links, "{} link", "{} links"),
        _format_if_any(
            comparison.lost_entries, "{} entry of the ledger", "up to {} entries of the ledger"
        ),
    ]
    if any(lost) and not comparison.is_whole:
        lines.append(f"Lost here: {' and '.join(text for text in lost if text)}.")
    return lines


def choose_reset_reason(standing: SiteStanding) -> str:
    """Return the reason with which a machine that has lost something asks for a new epoch."""
    return "fork" if standing.comparison.head.frozen else "restored"


def _format_if_any(number: int, singular: str, plural: str) -> str:
    if not number:
        return ""
    return (singular if number == 1 else plural).format(number)
