"""Queries are run in a process of their own, that can do nothing but read for a while."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.errors import BenchmarkError
from agent.metrics import read_only_sql
from agent.metrics.read_only_sql import run_query


@pytest.mark.parametrize(
    "sql",
    [
        "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
        "with recursive n(i) as (select 1 union all select i from n) select i from n where i > 1",
        "select count(*) from drug a, drug b, drug c, drug d, drug e, drug f, drug g, drug h, drug i, drug j, drug k, "
        "drug l, drug m, drug n, drug o, drug p, drug q, drug r",
    ],
)
def test_a_query_that_never_ends_is_stopped(sql, database):
    before = time.monotonic()
    assert run_query(database, sql, seconds=0.3).ended == "too_long"
    assert time.monotonic() - before < 60  # without a limit: hours


REPORTED = (
    "with recursive r(x) as (select 1 union all select x + 1 from r limit 1000) select count(*) from r "
    "where printf('%.*c', 190000, 'a') || x like '%_' || printf('%.*c', 49000, 'a') || 'b'"
)


LONG_STEP = "printf('%.*c',190000,'a') like '%'||printf('%.*c',150,'_')||printf('%.*c',40,'a')||'b'"


@pytest.mark.parametrize(
    "sql",
    [
        REPORTED,
        REPORTED.replace("like '%_'", "glob '*'"),
        "select "
        + ", ".join([LONG_STEP] * 1500),  # no jump in it, at which SQLite would look at the clock
        "with recursive r(i, x) as (select 1, printf('%.*c', 190000, 'a') union select i + 1, x || '' from r) "
        "select count(*) from r",  # a gigabyte a second
    ],
)
def test_a_query_whose_every_step_takes_seconds_is_stopped_all_the_same(sql, database):
    before = time.monotonic()
    assert run_query(database, sql, seconds=0.5).ended in ("too_long", "failed")
    assert time.monotonic() - before < 60  # without a limit: minutes
    assert run_query(database, "select 1").rows == (
        (1,),
    )  # the next question is asked as if nothing had been


def test_a_whole_benchmarks_queries_are_run_in_seconds(database):
    before = time.monotonic()
    for number in range(1000):
        assert run_query(database, f"select {number}").rows == ((number,),)
    assert time.monotonic() - before < 60


def test_the_process_that_runs_queries_ends_with_the_agent_also_when_it_is_killed(database):
    script = (
        "import os, signal; from pathlib import Path; from agent.metrics import read_only_sql as r\n"
        f"r.run_query(Path({str(database)!r}), 'select 1')\n"
        "print(r._PROCESS._process._child.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30
    )
    child = Path("/proc") / found.stdout.strip()
    assert found.returncode == -signal.SIGKILL
    for _ in range(50):
        if not child.exists() or "\nState:\tZ" in (child / "status").read_text():
            return
        time.sleep(0.1)
    pytest.fail("it is still there")


def test_a_process_that_is_killed_between_two_queries_costs_no_query(database):
    assert run_query(database, "select 1").rows == ((1,),)
    child = read_only_sql._PROCESS._process._child
    child.kill()
    child.wait()
    assert run_query(database, "select 2").rows == ((2,),)


def test_few_rows_of_many_megabytes_are_not_kept_either(database):
    wide = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) "
    assert run_query(database, wide + "select i, printf('%150000d', i) from n").ended == "too_much"
    assert run_query(database, "select replace(printf('%190000d', 1), ' ', 'ab')").ended == "failed"


def test_a_missing_or_foreign_database_is_said_and_not_created(tmp_path):
    with pytest.raises(BenchmarkError, match=r"gone\.sqlite is missing"):
        run_query(tmp_path / "gone.sqlite", "select 1")
    (tmp_path / "notes.sqlite").write_text("a patient's notes, not a database at all" * 50)
    with pytest.raises(BenchmarkError, match="not a SQLite database"):
        run_query(tmp_path / "notes.sqlite", "select 1")
    assert not (tmp_path / "gone.sqlite").exists()
