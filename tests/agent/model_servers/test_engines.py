"""How engines are started: no secret in what others can read, no prompt in a log, no look beyond this machine."""

import importlib.util
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.model_server import Engine, ModelServer
from agent.errors import ConfigError
from agent.model_servers.engines import describe_start

TOKEN = "secret-token"


@pytest.fixture(autouse=True)
def every_engine_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)


@pytest.mark.parametrize("engine", ["llamacpp", "vllm"])
def test_the_token_is_in_no_list_of_processes(engine: Engine):
    start = describe_start(ModelServer(engine, Path("m")), "org/m", 8123, TOKEN)
    assert TOKEN not in " ".join(start.command)
    assert TOKEN in start.first_line + start.environment.get("VLLM_API_KEY", "")
    assert start.environment["HF_HUB_OFFLINE"] == "1"


def test_vllm_writes_no_character_of_a_prompt_to_its_log_and_serves_this_machine_alone():
    server = ModelServer("vllm", Path("m"), context=2048, gpu_share=0.5)
    command = describe_start(server, "org/m", 8123, TOKEN).command
    options = dict(itertools.pairwise(command))
    assert options["--max-log-len"] == "0"
    assert (options["--host"], options["--port"]) == ("127.0.0.1", "8123")
    assert (options["--max-model-len"], options["--gpu-memory-utilization"]) == ("2048", "0.5")


def test_engines_read_the_chat_template_that_the_deployment_names(tmp_path: Path):
    template = tmp_path / "own.jinja"
    template.write_text("{{ messages[0].content }}", "utf-8")
    server = ModelServer("llamacpp", Path("m"), chat_template=template)
    settings = json.loads(describe_start(server, "org/m", 8123, TOKEN).first_line)
    assert settings["chat_template"] == "{{ messages[0].content }}"
    command = describe_start(replace(server, engine="vllm"), "org/m", 8123, TOKEN).command
    assert dict(itertools.pairwise(command))["--chat-template"] == str(template)


def test_llamacpp_writes_no_values_of_variables_to_its_log_when_it_fails():
    start = describe_start(ModelServer("llamacpp", Path("m")), "org/m", 8123, TOKEN)
    assert start.environment["GGML_NO_BACKTRACE"] == "1"


def test_a_missing_engine_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError) as caught:
        describe_start(ModelServer("vllm", Path("m")), "org/m", 8123, TOKEN)
    assert "pip install '.[vllm]'" in caught.value.advice


def test_settings_of_the_account_do_not_make_vllm_write_answers_to_its_log():
    environment = describe_start(ModelServer("vllm", Path("m")), "org/m", 8123, TOKEN).environment
    assert environment["VLLM_DEBUG_LOG_API_SERVER_RESPONSE"] == "false"
    assert environment["VLLM_LOGGING_LEVEL"] == "INFO"
    assert environment["VLLM_TRACE_FUNCTION"] == "0"
