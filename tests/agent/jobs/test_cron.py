"""Times of schedules, in local time: also where the clock is put forward or back."""

import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from agent.errors import ConfigError
from agent.jobs.cron import check_cron, describe_times, find_last_time, find_next_time

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()


def test_a_time_is_in_local_time(in_berlin: None):
    now = at("2026-07-01T12:00")
    assert find_last_time("0 3 * * *", now) == at("2026-07-01T03:00")
    assert find_next_time("0 3 * * *", now) == at("2026-07-02T03:00")
    assert find_next_time("30 18 * * FRI", now) == at("2026-07-03T18:30")


def test_a_time_that_has_just_come_is_due(in_berlin: None):
    now = at("2026-07-01T03:00")
    assert find_last_time("0 3 * * *", now) == now
    assert find_last_time("0 3 * * *", now + 0.4) == now
    assert find_last_time("0 3 * * *", now - 0.4) == at("2026-06-30T03:00")


def test_an_hour_that_the_clock_repeats_brings_a_time_only_once(in_berlin: None):
    first, second = at("2026-10-25T02:30"), at("2026-10-25T02:30", fold=1)
    assert second - first == 3600
    assert find_last_time("30 2 * * *", first + 60) == first
    assert find_last_time("30 2 * * *", second + 60) == first


def test_an_hour_that_the_clock_skips_does_not_lose_its_job(in_berlin: None):
    before, after = at("2026-03-29T01:59"), at("2026-03-29T03:31")
    assert find_last_time("30 2 * * *", after) > before


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("0 3 * *", "4 fields instead of 5"),
        ("* 0 3 * * *", "6 fields instead of 5"),
        ("61 3 * * *", "bad minute"),
        ("0 3 * * FUNDAY", "bad day-of-week"),
        ("0 0 31 2 *", "day-of-month"),
        ("", "0 fields instead of 5"),
    ],
)
def test_a_wrong_expression_is_refused_with_its_field(expression: str, message: str):
    with pytest.raises(ConfigError, match=message) as error:
        check_cron(expression)
    assert "daily at 3" in error.value.advice


def test_spaces_in_an_expression_do_not_matter():
    assert check_cron("  0   3 * *  * ") == "0 3 * * *"


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 3 * * *", "every day at 03:00"),
        ("0 20 * * FRI", "every Friday at 20:00"),
        ("0 8,20 * * *", "every day at 08:00 and 20:00"),
        ("0 3 1 * *", "on the first day of every month at 03:00"),
        ("0 3 L * *", "on the last day of every month at 03:00"),
        ("*/10 * * * *", "every 10th minute of every hour"),
        ("5 * * * *", "at minute 5 of every hour"),
    ],
)
def test_times_are_told_in_words(cron: str, words: str):
    assert describe_times(cron) == words
