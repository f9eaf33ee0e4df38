"""A site that was restored from a copy submits nothing until its history was compared with the aggregator's log.

It may lack statements that it has sent since, and debits of its ledger. If it went on, the aggregator would take its
next statement for a fork, and figures could be prepared that reveal a person next to those that are forgotten.

The mark of a restoration ends when a new epoch, requested since, is in force, or when the aggregator's signed head
showed that nothing is lost and a person chose to go on.
"""

from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox
from agent.disclosure.approval import Audit
from agent.disclosure.rekeying import read_reset_digest
from agent.disclosure.site_standing import SiteStanding
from agent.errors import ConfigError, DisclosureError
from agent.site.directory import Site
from agent.store import Restoration, Store, format_time
from protocol.registry import Registry

ADVICE = (
    "Nothing was sent. `intramural reset show` compares this site with the aggregator's log and says what to do. "
    "Results can be read and models evaluated all the same."
)


def find_open_restoration(site: Site, store: Store) -> Restoration | None:
    """Return the restoration after which this site must not submit yet; None if it may.

    A new epoch that is in force ends it. A site that belongs to no federation submits nothing anyway; but it may have
    joined one after the copy was made, so its mark waits for the day on which it joins.
    """
    restoration = store.copies.find_restoration()
    if restoration is None or restoration.ended_at is not None:
        return None
    if not Federation(site.submissions).is_member:
        return None
    if not _has_new_epoch(site, restoration):
        return restoration
    with store.transaction():
        store.copies.end_restoration()
        store.audit.record(
            "submitting after a restore", f"copy={restoration.copy_id} reason=new_epoch"
        )
    return None


def require_own_history(site: Site) -> None:
    """Refuse to draft, approve or send anything from a restored site that was not compared with the log.

    Raises:
        DisclosureError: the site was restored.
    """
    with site.store() as store:
        restoration = find_open_restoration(site, store)
    if restoration is not None:
        raise DisclosureError(f"{describe_restoration(restoration)}, so it submits nothing", ADVICE)


def continue_after_restore(site: Site, standing: SiteStanding, audit: Audit) -> Restoration:
    """Let a restored site submit again, which has everything that the aggregator has; return the restoration.

    Raises:
        ConfigError: the site was not restored, or may submit again already.
        DisclosureError: it lacks something.
    """
    with site.store() as store:
        restoration = find_open_restoration(site, store)
        if restoration is None:
            raise ConfigError(
                "no restore stands between this site and submitting", "There is nothing to do."
            )
        if not standing.comparison.is_whole:
            raise DisclosureError(
                "this site lacks something that the aggregator has, so it cannot simply continue",
                "Restore a newer copy, or request a new epoch with `intramural reset request`.",
            )
        store.copies.end_restoration()
    audit("submitting after a restore", f"copy={restoration.copy_id} reason=nothing_lost")
    return restoration


def describe_restoration(restoration: Restoration) -> str:
    """Return a clause that says from which copy a site was restored."""
    made = format_time(restoration.made_at)
    return f"this site was restored from a copy of {made} and may lack what it has sent since"


def _has_new_epoch(site: Site, restoration: Restoration) -> bool:
    """Return whether a request for a new epoch, made after the restoration, is in force."""
    digest = read_reset_digest(Outbox(site.submissions))
    if digest in ("", restoration.earlier_reset):
        return False
    federation = Federation(site.submissions)
    registry = federation.read_trusted()
    if not isinstance(registry, Registry):
        return False
    entry = registry.sites.get(federation.read_membership().site)
    return entry is not None and entry.start == digest
