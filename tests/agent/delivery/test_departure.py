"""Bytes leave only if the site's agent and one of its stewards signed exactly these."""

from dataclasses import replace

import pytest

from agent.delivery.departure import check_departure, check_signatures, list_site_keys
from agent.delivery.outbox import Submission
from agent.errors import DisclosureError
from protocol.envelope import decode, sign
from protocol.keys import Signer
from tests.agent.disclosure.ward import REGISTRY
from tests.protocol import world


def test_approved_bytes_leave_unchanged(approved: list[Submission]) -> None:
    for submission in approved:
        assert check_departure(submission, REGISTRY) == submission.data
        assert (
            check_signatures(submission.envelope, REGISTRY, submission.header.site)
            == world.STEWARD.public.keyid
        )


@pytest.mark.full
@pytest.mark.parametrize(
    "signers",
    [
        [world.AGENT],
        [world.STEWARD],
        [world.AGENT, world.STRANGER],
        [world.AGENT, world.OTHER_STEWARD],
        [world.AGENT, world.STEWARD, world.STRANGER],
    ],
)
def test_other_signatures_do_not_leave(approved: list[Submission], signers: list[Signer]) -> None:
    first = approved[0]
    data = sign(first.payload, signers)
    with pytest.raises(DisclosureError, match="must have two signatures: from the site's agent"):
        check_departure(replace(first, data=data, envelope=decode(data)), REGISTRY)


def test_bytes_of_another_submission_do_not_leave(approved: list[Submission]) -> None:
    first, second = approved
    with pytest.raises(DisclosureError, match="was changed after it was approved"):
        check_departure(replace(first, data=second.data), REGISTRY)


def test_bytes_that_are_no_submission_do_not_leave(approved: list[Submission]) -> None:
    with pytest.raises(DisclosureError, match="is not what was approved"):
        check_departure(replace(approved[0], data=b"{}"), REGISTRY)


def test_keys_of_an_unknown_site_are_none(approved: list[Submission]) -> None:
    site = approved[0].header.site
    assert list(list_site_keys(REGISTRY, site, "agent")) == [world.AGENT.public.keyid]
    assert list_site_keys(REGISTRY, "s-00000000", "agent") == {}
