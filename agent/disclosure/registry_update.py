"""Fetch the newest registry at a person's request, and say how it lists this site."""

from dataclasses import dataclass

from agent.delivery.membership import Federation, is_enrolled
from agent.delivery.outbox import Outbox
from agent.delivery.proven_log import follow_newest_checkpoint
from agent.disclosure.site_gate import connect_aggregator
from agent.site.directory import Site
from agent.site.new_keys import adopt_new_agent_key, load_present_agent_key
from protocol.registry import Registry


@dataclass(frozen=True, slots=True)
class RegistryUpdate:
    """The newest registry, and whether a new agent key was put in place because it names it."""

    registry: Registry
    has_new_agent_key: bool


def update_registry(site: Site, today_day: int) -> RegistryUpdate:
    """Fetch the newest registry over the network; the aggregator's log must extend the one that this site has seen.

    Raises:
        ConfigError: the site is not enrolled.
        DeliveryError: the aggregator cannot be reached, or the registry cannot be accepted.
    """
    federation = Federation(site.submissions)
    aggregator = connect_aggregator(site, federation.read_membership().url)
    newest = federation.update(aggregator, today_day)
    follow_newest_checkpoint(Outbox(site.submissions), newest, aggregator)
    return adopt_registry(site, newest)


def take_registry(site: Site, data: bytes, today_day: int) -> RegistryUpdate:
    """Accept a registry that came as a file. Raises DeliveryError if it cannot be accepted."""
    return adopt_registry(site, Federation(site.submissions).take(data, today_day))


def adopt_registry(site: Site, newest: Registry) -> RegistryUpdate:
    """Put a new agent key in place if the registry names it."""
    site_id = Federation(site.submissions).read_membership().site
    return RegistryUpdate(newest, adopt_new_agent_key(site.keys, newest, site_id))


def describe_enrolment(site: Site, registry: Registry, site_id: str) -> str:
    """Describe whether the registry lists this site with its own keys, or another hospital under the same id."""
    if is_enrolled(registry, site_id, load_present_agent_key(site.keys).public.keyid):
        return "this site is enrolled"
    if site_id in registry.sites:
        return (
            f"this site is not enrolled: {site_id} is registered with other keys. Was the invite used by another site? "
            "Ask the central team for a new one"
        )
    return "this site is not yet enrolled"
