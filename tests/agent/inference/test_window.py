"""The smaller window of deployment and server binds."""

from dataclasses import replace

from agent.vocabulary import Response
from tests.agent.inference.asking import ask_one, deployment, probe_server
from tests.agent.inference.counting_server import CountingServer
from tests.agent.inference.long_prompts import note, over_long


def test_what_the_deployment_says_of_its_window_binds_below_what_the_server_takes():
    with CountingServer(window=4000) as server:
        found = probe_server(server)
        where = replace(deployment(server.url), max_sequence_length=500)
        result = ask_one(where, over_long(note(2000)), capabilities=found)
        wide = replace(deployment(server.url), max_sequence_length=500_000)
        honest = ask_one(wide, over_long(note(6000)), capabilities=found)
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert result.prompt_tokens <= 480
    assert isinstance(honest, Response)
    assert honest.prompt_tokens is not None
    assert 3900 <= honest.prompt_tokens <= 3980
