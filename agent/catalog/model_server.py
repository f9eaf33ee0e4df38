"""The `model_server` map of a deployment: how the agent starts the inference server itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.io.yaml_map import YamlMap

Engine = Literal["llamacpp", "vllm"]

_ENGINES: tuple[Engine, ...] = ("llamacpp", "vllm")
# The agent itself sets these: the address, the secret and the name decide who can ask the server, and for what.
_OWN = "is set by the agent"
_RUNS_CODE = "could run code that is not vLLM's"
_LOGS = "could write prompts to the server's log"
_OTHER_WEIGHTS = "could serve a model other than the weights, whose digest is kept"
_SENDS = "could send prompts or figures elsewhere"
_REFUSED = {
    "--host": _OWN,
    "--port": _OWN,
    "--uds": _OWN,
    "--api-key": _OWN,
    "--model": _OWN,
    "--served-model-name": _OWN,
    "--config": "could set what the agent sets",
    "--trust-remote-code": _RUNS_CODE,
    "--middleware": _RUNS_CODE,
    "--enable-log-requests": _LOGS,
    "--enable-log-outputs": _LOGS,
    "--max-log-len": _LOGS,
    "--no-disable-log-requests": _LOGS,
    "--worker-cls": _RUNS_CODE,
    "--worker-extension-cls": _RUNS_CODE,
    "--scheduler-cls": _RUNS_CODE,
    "--logits-processors": _RUNS_CODE,
    "--tool-parser-plugin": _RUNS_CODE,
    "--reasoning-parser-plugin": _RUNS_CODE,
    "--load-format": _OTHER_WEIGHTS,
    "--lora-modules": _OTHER_WEIGHTS,
    "--chat-template": "is set by chat_template, whose text is kept with the run",
    "--tokenizer": _OTHER_WEIGHTS,
    "--hf-config-path": _OTHER_WEIGHTS,
    "--kv-events-config": _SENDS,
    "--kv-transfer-config": _SENDS,
    "--otlp-traces-endpoint": _SENDS,
}


@dataclass(frozen=True, slots=True)
class ModelServer:
    """An inference server that the agent starts on this machine.

    Attributes:
        engine: the program: llama.cpp's server, or vLLM's.
        weights: a GGUF file for llama.cpp, or a model's folder for vLLM. Nothing is ever downloaded.
        context: maximum tokens of a prompt and its answer; None for what the model was trained with.
        parallel: number of requests that are answered at the same time.
        threads: processor threads; None for the engine's choice. Only llama.cpp.
        gpu_share: share of the GPU's memory that may be used, from 0 to 1; None for the engine's choice. Only vLLM.
        gpu_layers: number of layers on the GPU; None for as many as fit. Only llama.cpp.
        extra_arguments: further arguments of `vllm serve`.
        chat_template: a Jinja file that joins the messages of a request; None for the template in the weights.
        digest: SHA-256 over the files of the weights with which its server was started, and over its chat template if
            it has one of its own; empty unless it runs.
    """

    engine: Engine
    weights: Path
    context: int | None = None
    parallel: int = 4
    threads: int | None = None
    gpu_share: float | None = None
    gpu_layers: int | None = None
    extra_arguments: tuple[str, ...] = ()
    chat_template: Path | None = None
    digest: str = ""


def read_model_server(section: YamlMap, folder: Path) -> ModelServer:
    """Read the map and record its problems. The path of the weights is relative to `folder`."""
    engine: Engine = "vllm" if section.choice("engine", _ENGINES) == "vllm" else "llamacpp"
    extra_arguments = section.texts("extra_arguments")
    for argument in extra_arguments:
        refusal = _find_refusal(argument)
        if refusal:
            section.note("extra_arguments", refusal)
    server = ModelServer(
        engine=engine,
        weights=folder / section.name("weights"),
        context=section.integer("context", None, low=128),
        parallel=section.integer("parallel", 4, high=1024),
        threads=section.integer("threads", None, high=1024),
        gpu_share=_read_share(section),
        gpu_layers=section.integer("gpu_layers", None, low=0, high=10_000),
        extra_arguments=extra_arguments,
        chat_template=folder / section.name("chat_template")
        if section.has("chat_template")
        else None,
    )
    only = ("gpu_share", "extra_arguments") if engine == "llamacpp" else ("threads", "gpu_layers")
    for key in only:
        if section.has(key):
            section.note(key, f"has no meaning with engine: {engine}")
    section.finish()
    return server


def _read_share(section: YamlMap) -> float | None:
    text = section.text("gpu_share", "")
    if not section.has("gpu_share"):
        return None
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        section.note("gpu_share", "expected a number above 0 and at most 1, such as 0.9")
        return None
    return share


def _find_refusal(argument: str) -> str:
    """Return why an argument is refused, or "". vLLM also accepts options with underscores or without their end.

    A dot after an option's name begins the name of a value in it.
    """
    option = argument.partition("=")[0].partition(".")[0].replace("_", "-")
    if not option.startswith("--"):
        return ""  # the value of an option before it, or a short option, none of which is refused
    for refused, reason in _REFUSED.items():
        if refused.startswith(option):
            return f"{refused} {reason}"
    return ""
