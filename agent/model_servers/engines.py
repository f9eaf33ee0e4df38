"""The command, the environment and the input by which each engine is started."""

import importlib.util
import json
import sys
from dataclasses import dataclass

from agent.catalog.model_server import Engine, ModelServer
from agent.errors import ConfigError
from agent.io.install_hint import describe_install
from agent.model_servers.chat_templates import read_chat_template
from agent.model_servers.loopback import ADDRESS

_PACKAGES: dict[Engine, str] = {"llamacpp": "xllamacpp", "vllm": "vllm"}
# Nothing is downloaded, nothing is reported to anybody, and no address outside this machine is looked up.
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_HOST_IP": ADDRESS,
}
# Settings of the account that starts the server could make vLLM write prompts and answers to its log.
_NO_TEXTS_IN_LOG = {
    "VLLM_LOGGING_LEVEL": "INFO",
    "VLLM_DEBUG_LOG_API_SERVER_RESPONSE": "false",
    "VLLM_TRACE_FUNCTION": "0",
}


@dataclass(frozen=True, slots=True)
class EngineStart:
    """How to start an engine.

    Attributes:
        command: the program and its arguments, which other accounts of this machine can read. They contain no secret.
        environment: variables to add to the environment.
        first_line: what the engine reads from its standard input; empty for nothing.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    first_line: str


def check_installed(engine: Engine) -> None:
    """Raise ConfigError if the engine is not installed."""
    package = _PACKAGES[engine]
    if importlib.util.find_spec(package) is None:
        raise ConfigError(
            f"the engine {engine} is not installed (the Python package {package})",
            describe_install(engine),
        )


def describe_start(server: ModelServer, name: str, port: int, token: str) -> EngineStart:
    """Return how to start the engine of a server that serves the model `name` on `port` to holders of `token`.

    Raises:
        ConfigError: the engine is not installed.
    """
    check_installed(server.engine)
    if server.engine == "llamacpp":
        return _describe_llamacpp(server, name, port, token)
    return _describe_vllm(server, name, port, token)


def _describe_llamacpp(server: ModelServer, name: str, port: int, token: str) -> EngineStart:
    settings = {
        "weights": str(server.weights),
        "name": name,
        "address": ADDRESS,
        "port": port,
        "token": token,
        "context": server.context,
        "parallel": server.parallel,
        "threads": server.threads,
        "gpu_layers": server.gpu_layers,
        "chat_template": read_chat_template(server),
    }
    command = (sys.executable, "-P", "-m", "agent.model_servers.llamacpp_engine")
    # If llama.cpp fails, it would have a debugger write the values of its variables to the log, prompts among them.
    return EngineStart(command, {**_OFFLINE, "GGML_NO_BACKTRACE": "1"}, json.dumps(settings))


def _describe_vllm(server: ModelServer, name: str, port: int, token: str) -> EngineStart:
    command = [sys.executable, "-P", "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(server.weights), "--served-model-name", name]
    command += ["--host", ADDRESS, "--port", str(port), "--max-num-seqs", str(server.parallel)]
    command += ["--max-log-len", "0"]  # no character of a prompt is written to the log
    if server.context is not None:
        command += ["--max-model-len", str(server.context)]
    if server.gpu_share is not None:
        command += ["--gpu-memory-utilization", str(server.gpu_share)]
    if server.chat_template is not None:
        command += ["--chat-template", str(server.chat_template.absolute())]
    command += server.extra_arguments
    environment = {**_OFFLINE, **_NO_TEXTS_IN_LOG, "VLLM_API_KEY": token}
    return EngineStart(tuple(command), environment, "")
