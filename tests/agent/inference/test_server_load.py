"""Real servers get as many requests at a time as they can do, and never more than they may."""

import asyncio
from dataclasses import replace

import pytest

from agent.inference.client import ask_all
from agent.inference.outage import ServerWatch
from agent.inference.server_load import Places, ServerLoad, ServerLoads, identify_host
from agent.vocabulary import Failure, Response
from tests.agent.fault_server import Action, Asked, FaultServer, Status
from tests.agent.inference.asking import QUICK, ask, chat, deployment

PATIENT = replace(QUICK, attempt_timeout_s=20, first_attempt_timeout_s=20, total_timeout_s=60)


class BusyServer(FaultServer):
    """A server that refuses a request while it has more than `most` of them.

    Attributes:
        refused: number of requests that it refused.
    """

    def __init__(self, most: int, status: int = 429, latency_s: float = 0.05) -> None:
        super().__init__(fault=self._refuse, latency_s=latency_s)
        self.refused = 0
        self._most = most
        self._reply = Status(status)

    def _refuse(self, asked: Asked) -> Action | None:
        if self.in_flight <= self._most:
            return None
        self.refused += 1
        return self._reply


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_refuses_more_than_four_at_once_answers_everything_and_rarely_refuses(
    status: int,
):
    questions = [f"Question {i}?" for i in range(400)]
    with BusyServer(4, status) as server:
        outcome = ask(server.url, questions, limits=PATIENT, max_in_flight=32)
    assert len(outcome.texts()) == 400
    assert server.refused <= 40


def test_a_server_with_room_gets_all_that_it_may_but_not_at_once():
    with FaultServer(latency_s=0.1) as server:
        ask(server.url, [f"Question {i}?" for i in range(400)], limits=PATIENT, max_in_flight=40)
    first = server.asked[0].at
    assert server.peak_in_flight == 40
    assert sum(asked.at < first + 0.09 for asked in server.asked) <= 8


def test_calls_of_one_command_share_the_places_of_a_server():
    watch = ServerWatch(PATIENT)
    answered: list[object] = []

    def keep(key: object, result: Response | Failure) -> None:
        answered.append(key)

    async def ask_twice(url: str) -> None:
        calls = []
        for name, most in (("a", 3), ("b", 6)):
            requests = [((name, i), chat(f"{name}{i}")) for i in range(40)]
            here = deployment(url.replace("127.0.0.1", "localhost") if name == "a" else url)
            calls.append(
                ask_all(here, requests, keep, max_in_flight=most, limits=PATIENT, watch=watch)
            )
        await asyncio.gather(*calls)

    with FaultServer(latency_s=0.02) as server:
        asyncio.run(ask_twice(server.url))
    assert len(set(answered)) == 80
    assert server.peak_in_flight == 3  # the lower of the two limits applies to both


def test_the_limit_of_one_call_does_not_outlive_it():
    watch = ServerWatch(PATIENT)
    with FaultServer(latency_s=0.02) as server:
        questions = [f"Question {i}?" for i in range(60)]
        ask(server.url, questions, limits=PATIENT, max_in_flight=1, watch=watch)
        assert server.peak_in_flight == 1
        ask(server.url, questions, limits=PATIENT, max_in_flight=6, watch=watch)
    assert server.peak_in_flight == 6


def test_addresses_of_one_server_are_recognised():
    same = ["http://localhost:8000/v1", "http://127.0.0.1:8000/v1/", "HTTP://LOCALHOST:8000/other"]
    assert len({identify_host(url) for url in same}) == 1
    assert identify_host("http://a:80/v1") == identify_host("http://A/v1")
    assert identify_host("http://a:81/v1") != identify_host("http://a/v1")


def test_a_cancelled_request_gives_its_place_to_the_next():
    async def try_places() -> int:
        load = ServerLoad()
        with load.allow(1):
            places = Places([load])
            order: list[int] = []

            async def work(number: int) -> None:
                async with places:
                    order.append(number)
                    await asyncio.sleep(0.01)

            tasks = [asyncio.create_task(work(number)) for number in range(5)]
            await asyncio.sleep(0.001)
            tasks[1].cancel()  # while it waits
            tasks[0].cancel()  # while it holds the place
            await asyncio.sleep(0)
            tasks[2].cancel()  # perhaps just as it was given the place
            await asyncio.gather(*tasks, return_exceptions=True)
            return len(order)

    assert asyncio.run(try_places()) >= 3


def test_a_server_that_must_not_adapt_gets_everything_at_once():
    async def ask_together(url: str) -> None:
        requests = [(i, chat(str(i))) for i in range(30)]
        await ask_all(
            deployment(url),
            requests,
            lambda key, result: None,
            max_in_flight=30,
            limits=PATIENT,
            loads=ServerLoads(adapts=False),
        )

    with FaultServer(latency_s=0.3) as server:
        asyncio.run(ask_together(server.url))
    assert server.peak_in_flight == 30
