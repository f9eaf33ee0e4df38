"""A server that is gone is waited for once a command, and the user learns which it is, and since when."""

import re
from dataclasses import replace

from agent.inference.outage import Outage, ServerWatch
from tests.agent.fault_server import FaultServer
from tests.agent.inference.asking import QUICK, ask

LIMITS = replace(QUICK, outage_grace_s=1)
SINCE = r"has not answered since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(no connection\)"


def questions(run: int) -> list[str]:
    return [f"Question {number} of run {run}?" for number in range(50)]


def test_seventeen_runs_wait_for_a_server_once_and_it_is_said_once():
    with FaultServer() as server:
        url = server.url
    said: list[str] = []
    watch = ServerWatch(LIMITS, said.append)
    first = ask(url, questions(0), limits=LIMITS, watch=watch)
    later = [ask(url, questions(run), limits=LIMITS, watch=watch) for run in range(1, 17)]
    assert first.seconds >= 1
    assert sum(outcome.seconds for outcome in later) < 2
    (note,) = said
    name = re.escape(f"deployment local/test: the server 127.0.0.1:{server.port}")
    assert re.fullmatch(f"{name} {SINCE}; its questions wait for it for up to 1 s", note)
    (lost,) = watch.list_lost()
    assert re.fullmatch(f"{name} {SINCE}", lost.describe())


def test_a_server_that_is_back_is_asked_by_the_next_run():
    said: list[str] = []
    watch = ServerWatch(LIMITS, said.append)
    with FaultServer() as server:
        server.stop()
        ask(server.url, questions(0), limits=LIMITS, watch=watch)
        server.start()
        outcome = ask(server.url, questions(1), limits=LIMITS, watch=watch)
    assert len(outcome.texts()) == 50
    assert re.search(r"answers again after \d+ s$", said[-1])


def test_a_single_refused_connection_is_not_worth_a_word():
    said: list[str] = []
    outage = Outage(LIMITS, note=said.append)
    outage.note_silence()
    outage.note_reply()
    assert said == []
