"""The disclosure gate of a site, put together from its keys, its policy and its registry."""

from typing import TYPE_CHECKING

from agent.enrolment_commands import federation_of, today_day
from agent.keys import KeyRole, load_signer, read_data_key
from agent.site import Site

if TYPE_CHECKING:
    from agent.disclosure.prepare import Gate


def gate_of(site: Site) -> "Gate":
    """Return the gate of today.

    Raises:
        ConfigError: this is no site directory, or it belongs to no federation.
        StoreError: a key is missing, too widely readable, or damaged.
        DeliveryError: the registry that is here has expired.
        DisclosureError: there is no policy of the name that site.yaml gives.
    """
    from agent.delivery.outbox import Outbox
    from agent.disclosure.policy import read_policy
    from agent.disclosure.prepare import Gate

    return Gate(
        outbox=Outbox(site.submissions),
        registry=federation_of(site).registry(today_day()),
        policy=read_policy(site.settings.disclosure_policy, site.directory),
        signer=load_signer(site.keys / "agent.key", KeyRole.AGENT),
        data_key=read_data_key(site.keys / "data.key"),
        seal_key=site.seal_key(),
        today_day=today_day(),
    )
