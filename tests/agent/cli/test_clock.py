"""`intramural clock`: a machine comes back from 2036 or 2020, and nothing is purged or sent by a wrong date."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from agent.cli.audit import audit
from agent.cli.clock import clock as clock_commands
from agent.cli.judge import judge
from agent.cli.ledger import ledger
from agent.cli.plan import plan
from agent.cli.site import doctor, purge
from agent.cli.submission import submission
from agent.errors import ClockError, ConfigError, DisclosureError
from agent.site.directory import Site, create_site
from tests.agent.delivery.whole_site import SUITE, Wire, join, ok, rows, run
from tests.agent.store.begun_runs import begin, response
from tests.agent.store.set_clock import DAY, SetClock
from tests.aggregator.conftest import Served
from tests.aggregator.federation import MODELS
from tests.forked import run_command

YEAR = 365 * DAY


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    # A little ahead of the real clock, by which the store's own making is dated, however slow the machine is.
    clock = SetClock(int(time.time()) + 300)
    monkeypatch.setattr("agent.store.clock.read_clock", clock.read)
    return clock


def say(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def refused(result: Result, error: type[Exception] = ClockError) -> str:
    assert isinstance(result.exception, error), (result.output, result.exception)
    return str(result.exception)


def count_texts(site: Site) -> int:
    with site.store() as store:
        (count,) = store.database.connection.execute("SELECT COUNT(*) FROM answers").fetchone()
    return int(count)


@pytest.fixture
def answered(tmp_path: Path, clock: SetClock) -> Site:
    """A site with four answers of a moment ago."""
    site = create_site(tmp_path / "site", "St. Example")
    with site.store() as store:
        run_id, keys = begin(store)
        store.answers.settle(run_id, [(key, response()) for key in keys], [])
    return site


def test_a_wrong_clock_stops_purge_run_and_judging_and_fails_the_doctor(
    answered: Site, clock: SetClock
):
    for step in (-6 * YEAR, 10 * YEAR):
        clock.now += step
        assert "this machine's clock says" in refused(run(answered, purge, "--older-than", 30))
        refused(run(answered, judge, "--suite", "s"))
        checks = json.loads(run(answered, doctor, "--format", "json").output)
        (check,) = [check for check in checks if check["what"] == "clock"]
        assert (check["verdict"], "clock show" in check["advice"]) == ("failed", True)
        clock.now -= step
    assert count_texts(answered) == 4
    assert "4 texts" not in ok(answered, purge, "--older-than", 30)


def test_a_real_command_under_a_clock_of_2020_asks_no_server(answered: Site, clock: SetClock):
    with answered.store() as store:
        ahead = store.clock.accept  # the site has been used in the future of this test's machine
        clock.now += 2 * DAY
        clock.restart()
        ahead()
    done = run_command(
        "agent",
        *("--site", answered.directory, "run", "--suite", "s", "-r", "pubmed_qa:model=m"),
        *("--server", "http://127.0.0.1:9/v1"),
    )
    assert done.returncode == 8
    assert "but this site has seen" in done.stderr
    assert f"intramural --site {answered.directory} clock show" in done.stderr


def test_everything_can_be_purged_whatever_the_clock_says(answered: Site, clock: SetClock):
    clock.now -= 6 * YEAR
    assert ok(answered, purge, "--older-than", 0).startswith("8 texts deleted")


def test_show_says_what_disagrees_and_what_to_do(answered: Site, clock: SetClock):
    assert "They agree." in ok(answered, clock_commands, "show")
    clock.now -= 6 * YEAR
    behind = run(answered, clock_commands, "show")
    assert behind.exit_code == 1
    assert "--today" in behind.output
    assert "--wrong-since" not in behind.output
    clock.now += 12 * YEAR
    ahead = run(answered, clock_commands, "show")
    assert ahead.exit_code == 1
    assert "--wrong-since" in ahead.output
    assert "--earlier-times-right" in ahead.output


def test_a_clock_that_is_still_wrong_is_not_accepted(answered: Site, clock: SetClock):
    today = say(clock.now)
    clock.now -= 6 * YEAR
    refused(run(answered, clock_commands, "accept", "--today", today), ConfigError)
    refused(run(answered, purge, "--older-than", 30))


def test_after_2036_the_right_clock_is_accepted_and_the_audit_log_says_so(
    answered: Site, clock: SetClock
):
    clock.restart(off_s=10 * YEAR)
    with answered.store() as store:
        run_id, keys = begin(store)
        store.answers.settle(run_id, [(key, response()) for key in keys], [])
    clock.restart(off_s=-10 * YEAR)
    refused(run(answered, purge, "--older-than", 30))
    done = ok(answered, clock_commands, "accept", "--today", say(clock.now))
    assert "stored times changed to now" in done
    assert "0 texts" in ok(answered, purge, "--older-than", 30)
    clock.pass_time(31 * DAY)
    assert "8 texts" in ok(answered, purge, "--older-than", 30)
    events = json.loads(ok(answered, audit, "--format", "json"))
    (event,) = [event for event in events if event["event"] == "clock accepted"]
    assert event["detail"].endswith("restamped=8")


def test_after_2020_somebody_must_say_which_times_are_right(answered: Site, clock: SetClock):
    with answered.store() as store:
        store.database.connection.execute("UPDATE answers SET created_at = 1580000000")
    clock.now += 10 * YEAR
    today = say(clock.now)
    asked = run(answered, clock_commands, "accept", "--today", today)
    assert asked.exit_code == 2
    both = ("--wrong-since", "2020-01-01", "--earlier-times-right")
    assert run(answered, clock_commands, "accept", "--today", today, *both).exit_code == 2
    ok(answered, clock_commands, "accept", "--today", today, "--wrong-since", "2020-01-01")
    assert "0 texts" in ok(answered, purge, "--older-than", 30)


def test_a_long_rest_is_confirmed_once(answered: Site, clock: SetClock):
    clock.restart(off_s=100 * DAY)
    refused(run(answered, purge, "--older-than", 30))
    checks = json.loads(run(answered, doctor, "--format", "json").output)
    (check,) = [check for check in checks if check["what"] == "clock"]
    assert check["verdict"] == "warning"
    shown = run(answered, clock_commands, "show")
    assert shown.exit_code == 1
    ok(answered, clock_commands, "accept", "--today", say(clock.now), "--earlier-times-right")
    assert "8 texts" in ok(answered, purge, "--older-than", 30)


def test_plans_and_the_ledger_get_no_day_of_a_wrong_clock_and_go_on_after_it(
    site: Site, served: Served, wire: Wire, tmp_path: Path, clock: SetClock
):
    key = join(site, served, wire, tmp_path)
    clock.restart(off_s=300 * DAY)  # as if it were switched on with another date: nobody can tell
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    clock.restart(off_s=-300 * DAY)
    refused(run(site, submission, "prepare", "--suite", SUITE))
    refused(run(site, plan, "--scorecard", "card", "--model", MODELS[0].name))
    with site.store() as store:  # even somebody who takes this hurdle alone ...
        store.clock.accept()
        store.audit.record("clock accepted", "")
    message = refused(run(site, submission, "prepare", "--suite", SUITE), DisclosureError)
    assert "the ledger of releases has an entry of" in message
    done = ok(site, clock_commands, "accept", "--today", say(clock.now))
    assert "ledger of releases has an entry" in done
    ok(site, ledger, "verify")
    kinds = [row["kind"] for row in json.loads(ok(site, ledger, "show", "--format", "json"))]
    assert kinds[-1] == "clock"
    for model in MODELS[:2]:  # the draft of the wrong day is made anew
        ok(site, submission, "prepare", "--suite", SUITE, "--model", model.name)
    ok(site, submission, "approve", "--key", key, answer="y\n" * 2)
    ok(site, submission, "send")
    assert {row["state"] for row in rows(site)} == {"receipted"}
