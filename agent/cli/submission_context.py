"""Helpers for commands about submissions: the outbox, the gate, the site's policy and its audit log."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from agent.cli.federation import today_day
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.outbox import Outbox, Submission
    from agent.disclosure.prepare import Gate
    from protocol.policy import DisclosurePolicy

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
    from agent.disclosure.site_gate import read_site_policy

    return read_site_policy(site)


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
    from agent.disclosure.site_gate import open_gate

    _ = site.settings  # reads the file, so that a folder that is not a site is refused
    return open_gate(site, today_day(site))


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
