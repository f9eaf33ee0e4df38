"""Whether a proxy accepts connections is found out without sending anything."""

import pytest

from agent.inference.proxy_check import accepts_connections
from tests.agent.fault_server import FaultServer


def test_a_listening_proxy_is_found_and_gets_no_request():
    with FaultServer() as server:
        assert accepts_connections(f"http://user:secret@127.0.0.1:{server.port}")
        assert server.seen_paths == []
    assert not accepts_connections(f"http://127.0.0.1:{server.port}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://127.0.0.1:port", "http://[::1"])
def test_an_address_that_is_none_accepts_nothing(url: str):
    assert not accepts_connections(url)
