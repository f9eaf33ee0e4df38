"""The gate as one site has it, opened for one command or one page: its keys, policy, outbox and registry."""

from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox
from agent.delivery.transport import Aggregator, AggregatorConnection
from agent.disclosure.policy import read_policy
from agent.disclosure.prepare import Gate
from agent.errors import ConfigError
from agent.keys import KeyRole, load_signer, read_data_key
from agent.site.directory import Site
from protocol.policy import DisclosurePolicy
from protocol.registry import Registry, RootPins
from protocol.scorecard import Scorecard


def open_gate(site: Site, today_day: int) -> Gate:
    """Return the gate of a site.

    Raises:
        ConfigError: the site is not enrolled.
        DisclosureError: it has no registry, or that has expired.
        StoreError: a key is missing, too widely readable, or damaged.
    """
    return Gate(
        outbox=Outbox(site.submissions),
        registry=Federation(site.submissions).read_registry(today_day),
        policy=read_site_policy(site),
        signer=load_signer(site.keys / "agent.key", KeyRole.AGENT),
        data_key=read_data_key(site.keys / "data.key"),
        seal_key=site.seal_key(),
        today_day=today_day,
    )


def read_site_policy(site: Site) -> DisclosurePolicy:
    """Read the site's own disclosure policy. Raises ConfigError or DisclosureError."""
    return read_policy(site.settings.disclosure_policy, site.directory)


def read_newest_registry(site: Site) -> Registry | None:
    """Return the newest stored registry, expired or not; None for a site that is not enrolled.

    Raises:
        DisclosureError: the file of a version was changed.
    """
    federation = Federation(site.submissions)
    if not federation.is_member:
        return None
    trusted = federation.read_trusted()
    return None if isinstance(trusted, RootPins) else trusted


def choose_scorecard(registry: Registry, name: str | None) -> Scorecard:
    """Return the highest version of the named scorecard, or of the only one. Raises ConfigError."""
    cards = list_scorecards(registry)
    names = sorted({card.name for card in cards})
    if name is None and len(names) == 1:
        name = names[0]
    matching = [card for card in cards if card.name == name]
    if not names:
        raise ConfigError(
            "no scorecard is registered with the aggregator",
            "Ask the central team to register one.",
        )
    if not matching:
        raise ConfigError(
            "name the scorecard to report with --scorecard"
            if name is None
            else f"there is no scorecard {name}",
            f"Registered scorecards: {', '.join(names)}.",
        )
    return max(matching, key=lambda card: card.version)


def list_scorecards(registry: Registry) -> list[Scorecard]:
    """Return all versions of the scorecards that are in use."""
    return [entry.scorecard for entry in registry.scorecards.values() if not entry.retired]


def connect_aggregator(site: Site, invited_to: str) -> Aggregator:
    """Return the aggregator at the address in site.yaml, or else in the invite.

    Raises:
        ConfigError: no address is known.
    """
    settings = site.settings
    url = settings.aggregator_url or invited_to
    if not url:
        raise ConfigError(
            "this site lacks the aggregator's address",
            "Set `aggregator_url` in site.yaml, or exchange files with --export and --import-receipt.",
        )
    return Aggregator(
        AggregatorConnection(
            url=url,
            proxy=settings.proxy,
            ca_bundle=settings.ca_bundle,
            connect_timeout_s=settings.connect_timeout_s,
            total_timeout_s=settings.attempt_timeout_s,
        )
    )
