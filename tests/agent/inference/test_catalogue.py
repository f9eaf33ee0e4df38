"""A server's list of models is read with care: it may say anything."""

import pytest

from agent.inference.capabilities import Needs, check_needs
from agent.inference.catalogue import Catalogue
from agent.inference.findings import ProbeReply
from tests.agent.fault_server import (
    FaultServer,
)
from tests.agent.inference.asking import ask_one, chat, expect_refusal, probe_server
from tests.agent.inference.counting_server import CountingServer


def test_names_in_the_list_reach_a_person_short_few_and_without_control_characters():
    names = ("bad\x1b[2J\nname\u202e", "x" * 5000, *(f"model-{i}" for i in range(30)))
    with FaultServer(models=names) as server:
        advice = expect_refusal(server, "gpt-5").advice
    assert advice.startswith(
        f"The server offers these models (32): bad[2Jname, {'x' * 100}, model-0, "
    )
    assert "model-17 and 12 more. " in advice
    assert advice.isprintable()


@pytest.mark.parametrize(
    ("names", "requested", "finding"),
    [
        (["a"], "b", "lists 1 model, but not the requested one, although it serves it"),
        (["a", "c"], "b", "lists 2 models, but not the requested one, although it serves it"),
        (["a"], "a", "lists the model, and no other"),
        (["a", "c"], "a", "lists the model, one of 2"),
    ],
)
def test_the_models_in_a_list_are_counted_in_words_that_fit_their_number(names, requested, finding):
    fields = {"data": [{"id": name} for name in names]}
    catalogue = Catalogue.of(ProbeReply(200, fields, None))
    assert catalogue.feature(requested).finding == finding


def test_transformers_is_recognised_by_the_keys_of_the_one_model_that_it_lists():
    entry = {"owned_by": "org", "id": "org/m", "object": "model", "created": 0}
    listed = {**entry, "status": {"value": "loaded"}}
    assert Catalogue.of(ProbeReply(200, {"data": [listed]}, None)).server == "transformers"
    of_others = ({**listed, "owned_by": "llamacpp"}, {**listed, "created": 1700000000}, entry)
    for other in of_others:
        assert Catalogue.of(ProbeReply(200, {"data": [other]}, None)).server != "transformers"


@pytest.mark.parametrize("owner", [None, 5, ["vllm"], {"vllm": 1}])
def test_a_list_of_odd_values_ends_no_probe(owner):
    with FaultServer(
        owned_by=owner, extra_model_keys={"root": owner, "aliases": [owner]}
    ) as server:
        assert probe_server(server).server == "unknown"


def test_a_name_that_the_list_itself_gives_the_model_is_no_other_model():
    with FaultServer(
        replies_as="/models/tiny", extra_model_keys={"root": "/models/tiny"}
    ) as server:
        assert probe_server(server).state("model_name") == "honoured"


@pytest.mark.parametrize("owner", ["llamacpp", "me"])
def test_the_llama_cpp_family_is_told_not_to_punish_repetition(owner):
    with FaultServer(owned_by=owner, extra_model_keys={"permissions": []}) as server:
        found = probe_server(server)
        ask_one(server.url, chat("Why?"), capabilities=found)
    assert found.extra_body == {"repeat_penalty": 1.0}
    assert server.asked[-1].body["repeat_penalty"] == 1.0
    assert any("repeat_penalty=1.0" in said for said in check_needs(found, Needs()))


def test_the_server_itself_says_that_a_model_is_no_language_model():
    with FaultServer(extra_model_keys={"language_model": False}) as server:
        assert not probe_server(server).language_model


@pytest.mark.full
@pytest.mark.parametrize("listed", [-1, 0, True, 1.5, "4096", 10**30, [], {"n": 1}])
def test_a_window_that_is_no_number_of_tokens_is_not_believed(listed):
    with CountingServer(window=2048, listed=listed) as server:
        assert probe_server(server).window is None
    with CountingServer(
        window=2048, kind="llama.cpp", props={"default_generation_settings": {"n_ctx": listed}}
    ) as s:
        assert probe_server(s).window is None
    with CountingServer(window=2048, kind="llama.cpp", props=[1]) as s:
        assert probe_server(s).window is None


def test_llama_cpps_training_context_counts_where_nothing_better_is_known():
    with FaultServer(extra_model_keys={"meta": {"n_ctx_train": 8192}}) as server:
        assert probe_server(server).window == 8192
