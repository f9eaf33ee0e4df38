"""A pooled site's rotation is public, and names the hidden entry before it: who asks for that entry's receipt?"""

import json
from typing import Any

import pytest

from aggregator.api import log_routes
from protocol.canonical import canonical
from protocol.envelope import decode
from protocol.predicates import RotatePredicate
from protocol.receipt import read_receipt
from protocol.statements import parse_statement
from tests.aggregator.conftest import Served, home, served
from tests.aggregator.federation import TestSite, new_key, put_in_force, ready, registry_of
from tests.attacks.test_polling_heads import send_result

__all__ = ["home", "served"]  # fixtures


@pytest.fixture
def rotated(served: Served) -> TestSite:
    """A pooled site among others that sent a result and then replaced its agent's key."""
    sites = [ready(served.home, f"Pooled {number}", "pooled") for number in range(3)]
    for number, site in enumerate(sites):
        send_result(served, site, number)
    request = sites[1].rotate(registry_of(served.home), "agent", key := new_key())
    put_in_force(served.home, request)
    sites[1].accepted(request)
    sites[1].agent = key
    return sites[1]


def read_lines(served: Served) -> list[dict[str, Any]]:
    """Return the entries of the public log."""
    return [json.loads(line) for line in served.get("/v1/log/entries").text.splitlines()]


def find_named_entry(served: Served, site: TestSite) -> str:
    """Return the digest of the hidden entry that the public log's rotation names."""
    for line in read_lines(served):
        if "envelope" in line:
            statement = parse_statement(decode(canonical(line["envelope"])).payload)
            if isinstance(statement, RotatePredicate) and statement.header.site == site.id:
                return statement.header.prev
    raise AssertionError("the rotation is public")


def test_nobody_but_the_site_gets_the_receipt_of_a_hidden_entry(
    served: Served, rotated: TestSite
) -> None:
    digest = find_named_entry(served, rotated)
    other = ready(served.home, "Somebody else")
    assert served.get(f"/v1/receipts/{digest}").status_code == 404
    path = f"/v1/sites/{rotated.id}/receipts/"
    asked = {
        "by a stranger": (path, rotated.request_head(agent=new_key())),
        "by another site": (path, other.request_head()),
        "with another site's name": (path, rotated.request_head(agent=other.agent)),
        "an old request": (path, rotated.request_head(late_s=3600)),
        "another site for itself": (f"/v1/sites/{other.id}/receipts/", other.request_head()),
    }
    for name, (place, body) in asked.items():
        told, unknown = served.post(body, place + digest), served.post(body, place + "0" * 64)
        assert told.status_code in {403, 404}, name
        assert (told.status_code, told.text) == (unknown.status_code, unknown.text), name
    receipt = served.post(rotated.request_head(), path + digest)
    assert "leaf_hash" in read_lines(served)[read_receipt(receipt.text).index]


def test_with_every_request_answered_the_hidden_entry_has_a_sender(
    served: Served, rotated: TestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_routes, "check_head_request", lambda *_arguments, **_keywords: None)
    digest = find_named_entry(served, rotated)
    answer = served.post(
        rotated.request_head(agent=new_key()), f"/v1/sites/{rotated.id}/receipts/{digest}"
    )
    assert "leaf_hash" in read_lines(served)[read_receipt(answer.text).index]
