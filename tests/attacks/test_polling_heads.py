"""An attacker watches the public log, and asks after every new entry how far each pooled site's chain has come."""

from collections.abc import Callable, Sequence

import httpx
import pytest

from aggregator.api import log_routes
from aggregator.home import today_day
from aggregator.intake import accept
from protocol.envelope import HEAD_REQUEST_TYPE, decode, encode
from protocol.head_request import HeadRequest, sign_head_request
from tests.aggregator.conftest import Served, home, served
from tests.aggregator.federation import TestSite, enrolled, new_key, ready, registry_of, scores

__all__ = ["home", "served"]  # fixtures

SITES = 3
Poll = Callable[[TestSite], str]


@pytest.fixture
def sites(served: Served) -> list[TestSite]:
    return [ready(served.home, f"Pooled {number}", "pooled") for number in range(SITES)]


def send_result(served: Served, site: TestSite, number: int) -> None:
    envelope = site.sign(site.result(registry_of(served.home), scores(number)))
    accept(served.home, envelope, today_day=today_day())
    site.accepted(envelope)


def ask(served: Served, site: TestSite, body: bytes) -> str:
    """Return status and body of the answer, without the size of the log, which is public."""
    answer = served.post(body, f"/v1/sites/{site.id}/head")
    lines = answer.text.split("\n\n", maxsplit=1)[0].split("\n")
    return "\n".join([str(answer.status_code), *(lines[:8] if answer.is_success else lines)])


def attribute(served: Served, sites: Sequence[TestSite], poll: Poll) -> list[list[int]]:
    """Let the sites send one after the other; return, for every entry, the numbers of those whose answers changed."""
    guesses = []
    for number, sender in enumerate(sites):
        before = [poll(site) for site in sites]
        send_result(served, sender, number)
        after = [poll(site) for site in sites]
        guesses.append([place for place, answer in enumerate(before) if after[place] != answer])
    return guesses


def strangers_requests(served: Served, sites: Sequence[TestSite]) -> dict[str, Poll]:
    """What somebody can ask who holds no site's agent's key, or a request of a site's from some time ago."""
    stranger = new_key()
    old = {site.id: site.request_head(late_s=3600) for site in sites}
    mine = enrolled(served.home, "The attacker's own")

    def spoil(site: TestSite) -> bytes:
        opened = decode(site.request_head(), HEAD_REQUEST_TYPE)
        forged = decode(site.request_head(agent=stranger), HEAD_REQUEST_TYPE).signatures[0]
        signature = opened.signatures[0]
        return encode(
            type(opened)(
                opened.payload_type, opened.payload, (type(signature)(signature.keyid, forged.sig),)
            )
        )

    def of_another(site: TestSite) -> bytes:
        return sign_head_request(HeadRequest("board.example", mine.id, 1), mine.agent)

    bodies: dict[str, Callable[[TestSite], bytes]] = {
        "a stranger's key": lambda site: site.request_head(agent=stranger),
        "another site's agent": lambda site: site.request_head(agent=mine.agent),
        "the site's steward": lambda site: site.request_head(agent=site.steward),
        "the root key": lambda site: site.request_head(
            agent=served.home.root_signer(registry_of(served.home))
        ),
        "an old request": lambda site: old[site.id],
        "a request from the future": lambda site: site.request_head(late_s=-3600),
        "a spoiled signature": spoil,
        "a request of another site": of_another,
    }
    return {
        name: lambda site, make=make: ask(served, site, make(site)) for name, make in bodies.items()
    }


@pytest.mark.full
def test_polling_tells_a_stranger_nothing_about_hidden_entries(
    served: Served, sites: list[TestSite]
) -> None:
    requests = strangers_requests(served, sites)

    def poll(site: TestSite) -> str:
        got = httpx.get(f"{served.url}/v1/sites/{site.id}/head", trust_env=False).text
        return "\n".join([got, *(request(site) for request in requests.values())])

    assert attribute(served, sites, poll) == [[], [], []]
    unknown = TestSite("s-zzzzzzzz", agent=new_key())
    answers = {request(site) for request in requests.values() for site in sites}
    assert (
        answers == {ask(served, unknown, unknown.request_head())} == {'403\n{"code":"unknown_key"}'}
    )


def test_with_every_request_answered_polling_names_the_sender_of_each_hidden_entry(
    served: Served, sites: list[TestSite], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_routes, "check_head_request", lambda *_arguments, **_keywords: None)
    poll = strangers_requests(served, sites)["a stranger's key"]
    assert attribute(served, sites, poll) == [[0], [1], [2]]
