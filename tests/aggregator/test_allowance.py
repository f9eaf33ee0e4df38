"""An enrolled site that sends without end: it fills no disk, and nobody spends its allowance for it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from aggregator.allowance import SECONDS_PER_DAY, Allowance, AllowanceSpentError
from aggregator.home import Home
from aggregator.store.schema import refusals
from tests.aggregator.conftest import Served, serve_in_thread
from tests.aggregator.federation import TestSite, ready, registry_of, scores


@pytest.fixture
def strict(home: Home) -> Iterator[Served]:
    """Serve with an allowance of three payloads."""
    home.settings = home.settings.model_copy(update={"payloads_per_site_day": 3})
    with serve_in_thread(home) as served:
        yield served


def refused_payload(home: Home, site: TestSite, number: int) -> bytes:
    return site.sign(replace(site.result(registry_of(home), scores(1)), day=number))


def count_refusals(home: Home) -> int:
    with home.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(refusals)).scalar_one()


def test_a_site_that_sends_refused_payloads_without_end_is_put_off(
    home: Home, site: TestSite, strict: Served, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        assert strict.post(refused_payload(home, site, number)).status_code == 422
    for number in range(3, 8):
        answer = strict.post(refused_payload(home, site, number))
        assert (answer.status_code, answer.json()) == (429, {"code": "too_many_requests"})
        assert 0 < int(answer.headers["Retry-After"]) <= SECONDS_PER_DAY
    assert count_refusals(home) == 3
    assert caplog.text.count("allowance spent") == 1
    other = ready(home, "Other")
    assert strict.post(other.sign(other.result(registry_of(home), scores(2)))).status_code == 200


def test_whoever_reposts_what_a_site_sent_spends_nothing_of_its_allowance(
    home: Home, site: TestSite, strict: Served
) -> None:
    refused, taken = (
        refused_payload(home, site, 1),
        site.sign(site.result(registry_of(home), scores(1))),
    )
    assert strict.post(refused).status_code == 422
    assert strict.post(taken).status_code == 200
    site.accepted(taken)
    for _ in range(5):
        assert strict.post(taken).status_code == 200
        assert strict.post(refused).status_code in {409, 422}
    assert strict.post(site.sign(site.result(registry_of(home), scores(2)))).status_code == 200


def test_a_site_that_spent_its_allowance_still_gets_its_receipts(
    home: Home, site: TestSite, strict: Served
) -> None:
    taken = site.sign(site.result(registry_of(home), scores(1)))
    receipt = strict.post(taken).json()
    for number in range(2):
        strict.post(refused_payload(home, site, number))
    assert strict.post(refused_payload(home, site, 9)).status_code == 429
    assert strict.post(taken).json() == receipt


def test_an_allowance_is_of_a_day_and_of_one_site() -> None:
    now = [10.5 * SECONDS_PER_DAY]
    allowance = Allowance(payloads=10, size=1000, clock=lambda: now[0])
    allowance.count("s-aaaaaaaa", 900)
    allowance.check("s-aaaaaaaa", 100)
    with pytest.raises(AllowanceSpentError) as error:
        allowance.check("s-aaaaaaaa", 101)
    assert error.value.retry_after_s == SECONDS_PER_DAY // 2
    allowance.check("s-bbbbbbbb", 1000)
    now[0] += SECONDS_PER_DAY // 2
    allowance.check("s-aaaaaaaa", 1000)
