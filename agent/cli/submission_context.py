"""Helpers for commands about submissions: the outbox, the gate, the site's policy and its audit log."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from agent.cli.federation import open_federation, today_day
from agent.errors import ConfigError
from agent.keys import KeyRole, load_signer, read_data_key
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Outbox, Submission
    from agent.disclosure.prepare import Gate
    from protocol.policy import DisclosurePolicy
    from protocol.registry import Registry
    from protocol.scorecard import Scorecard

SHORT: Final = 12  # characters of a digest shown in a table
DIGEST = click.option(
    "--digest", help="The submission: at least the first 8 characters of its digest."
)


def open_outbox(site: Site) -> "Outbox":
    """Return the outbox with the files of the site's submissions."""
    from agent.delivery.outbox import Outbox

    return Outbox(site.submissions)


def read_site_policy(site: Site) -> "DisclosurePolicy":
    """Read the site's own disclosure policy. Raises ConfigError or DisclosureError."""
    from agent.disclosure.policy import read_policy

    return read_policy(site.settings.disclosure_policy, site.directory)


def record_event(site: Site, event: str, detail: str) -> None:
    """Record an event and its details in the site's audit log."""
    with site.store() as store:
        store.audit.record(event, detail)


def open_gate(site: Site) -> "Gate":
    """Return the gate: the site's keys, policy, outbox and registry.

    Raises:
        ConfigError: the site is not enrolled.
        StoreError: a key is missing, too widely readable, or damaged.
    """
    from agent.disclosure.prepare import Gate

    return Gate(
        outbox=open_outbox(site),
        registry=open_federation(site).read_registry(today_day()),
        policy=read_site_policy(site),
        signer=load_signer(site.keys / "agent.key", KeyRole.AGENT),
        data_key=read_data_key(site.keys / "data.key"),
        seal_key=site.seal_key(),
        today_day=today_day(),
    )


def find_scorecard(registry: "Registry", name: str | None) -> "Scorecard":
    """Return the highest version of the named scorecard, or of the only one. Raises ConfigError."""
    cards = [entry.scorecard for entry in registry.scorecards.values() if not entry.retired]
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


def choose_submissions(outbox: "Outbox", digest: str | None, state: str) -> "Sequence[Submission]":
    """Return the submission requested, else all submissions in a state."""
    if digest is not None:
        return [outbox.find(digest)]
    return [
        submission for submission in outbox.list_submissions() if submission.state.value == state
    ]


def count_drafts(drafts: int) -> str:
    """Return a number of drafts with its noun."""
    return "1 draft" if drafts == 1 else f"{drafts} drafts"
