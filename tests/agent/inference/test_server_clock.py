"""A server's clock is read from its Date header; a server without a valid one has no time."""

import asyncio
import time
from email.utils import formatdate

import pytest

from agent.inference.server_clock import read_server_time
from tests.agent.fault_server import FaultServer
from tests.agent.inference.asking import QUICK, deployment


class DatedServer(FaultServer):
    date = ""

    def _write_head(self, writer, status, headers):
        super()._write_head(writer, status, {**headers, "Date": self.date})


def read_time(url: str) -> float | None:
    return asyncio.run(read_server_time(deployment(url), url, QUICK))


def test_the_time_of_a_server_an_hour_ahead():
    with DatedServer() as server:
        server.date = formatdate(time.time() + 3600, usegmt=True)
        server_time = read_time(server.url)
    assert server_time is not None
    assert server_time - time.time() == pytest.approx(3600, abs=5)


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Foo 2026 00:00:00 GMT", "9" * 5000])
def test_a_date_that_is_none(date: str):
    with DatedServer() as server:
        server.date = date
        assert read_time(server.url) is None


def test_a_server_that_is_gone_has_no_time():
    with FaultServer() as server:
        pass
    assert read_time(server.url) is None
