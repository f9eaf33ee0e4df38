"""Model deployments: where and how models are served, from `model_deployments.yaml` with HELM's keys and ours."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agent.errors import ConfigError
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap, read_yaml
from agent.vocabulary import RunEntry

# Clients of HELM that talk to an OpenAI-compatible server, which is what this agent does.
_COMPATIBLE = (
    "VLLMClient",
    "VLLMChatClient",
    "VLLMGraniteThinkingClient",
    "OpenAIClient",
    "OpenAILegacyCompletionsClient",
)
_UNUSED = (
    "tokenizer_name",
    "window_service_spec",
    "max_request_length",
    "max_sequence_and_generated_tokens_length",
)
_UNUSED_ARGS = (
    "org_id",
    "reasoning_effort",
    "output_processor",
    "timeout",
    "max_retries",
    "default_headers",
)
_SECRET = ("api_key", "token", "password")
_CURRENCY = re.compile(r"[A-Z]{3}")
_HIGHEST_PRICE = 1_000_000.0
_ADVICE = "Add it to model_deployments.yaml, or name a server with --server."


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of asking a model. A price that the deployment does not state is unknown, not zero.

    Attributes:
        currency: code of three capitals, for example "EUR".
        per_million_prompt_tokens, per_million_completion_tokens: both, or neither.
        gpu_hour_rate: for one GPU and one hour; given together with `gpus`, the number that serve the deployment.
    """

    currency: str
    per_million_prompt_tokens: float | None = None
    per_million_completion_tokens: float | None = None
    gpu_hour_rate: float | None = None
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Deployment:
    """An OpenAI-compatible server and the name it serves a model under.

    Stored answers belong to the deployment's name. A name that moves to another server or model would pass the old
    answers off as the new model's, so a changed server needs a new name.

    Attributes:
        name: as run entries name it, for example "local/qwen".
        model_name: the model, for example "qwen/qwen2.5-7b-instruct".
        base_url: ends in /v1, without a trailing slash; empty when `problem` says why it cannot be used here.
        served_model: the `model` field of requests.
        token_file: file (0600) with the bearer token; None sends none.
        max_in_flight: requests at once; None leaves it to the command line.
        ca_bundle: PEM file for TLS; None means the system's trust store.
        proxy: address of this deployment's own proxy; None means none. The site's outgoing proxy leads out of the
            hospital and is never used for prompts.
        max_sequence_length: tokens of prompt (and answer) the server takes; None if unknown.
        tokenizer_file: the model's `tokenizer.json`, to count tokens with where the server does not count them.
        prices: of asking; None if the deployment states none.
        reasoning: whether the model thinks before it answers, and so gets `reasoning_max_tokens`.
        deprecated: HELM's mark.
        unused_keys: HELM's keys that the agent accepts without using them; `doctor` shows them.
        problem: why the deployment cannot be used by this agent; None when it can.
    """

    name: str
    model_name: str
    base_url: str
    served_model: str
    token_file: Path | None = None
    max_in_flight: int | None = None
    ca_bundle: Path | None = None
    proxy: str | None = None
    max_sequence_length: int | None = None
    tokenizer_file: Path | None = None
    prices: Prices | None = None
    reasoning: bool = False
    deprecated: bool = False
    unused_keys: tuple[str, ...] = ()
    problem: str | None = None


def read_deployments(path: Path) -> dict[str, Deployment]:
    """Read a `model_deployments.yaml`, by deployment name, in file order. Paths in it are relative to its folder.

    Raises:
        ConfigError: lists every problem with deployment and key; an API key written in the file is one.
    """
    tree = read_yaml(path, ConfigError)
    deployments: dict[str, Deployment] = {}
    for section in tree.maps("model_deployments"):
        deployment = _read_deployment(section, path.parent)
        earlier = deployments.get(deployment.name)
        # HELM's own file has several twice, all of clients that cannot be used here; there the last one counts.
        if earlier and not (deployment.problem and earlier.problem):
            section.note("name", f"{deployment.name!r} is there twice")
        deployments[deployment.name] = deployment
    tree.finish()
    if tree.problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in tree.problems))
    return deployments


def make_server_deployment(server_url: str, model: str) -> Deployment:
    """Make the deployment that `--server URL` means for `model`, which the server knows by the same name.

    It is named after the address, `server-` and 8 digits of its digest: two servers that know a model by one name are
    two deployments, whose answers are kept apart, and no host's name gets into labels.

    Raises:
        ConfigError: not an http(s) address, or no model.
    """
    problem = _find_address_problem(server_url)
    if problem:
        raise ConfigError(f"--server: {problem}")
    if not model:
        raise ConfigError(
            "--server needs a model", "Name the model as the server knows it: model=..."
        )
    base_url = server_url.rstrip("/")
    name = f"server-{hashlib.sha256(_normalise_address(base_url).encode()).hexdigest()[:8]}"
    return Deployment(name=name, model_name=model, base_url=base_url, served_model=model)


def _normalise_address(base_url: str) -> str:
    """Write every spelling of an address alike: lower-case scheme and host, with a port, without a slash at the end."""
    parts = urlsplit(base_url)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"


def find_deployment(entry: RunEntry, deployments: Mapping[str, Deployment]) -> Deployment:
    """Find the deployment an entry names, else the first one of its model that is not deprecated.

    Raises:
        ConfigError: there is none, it serves another model, or it cannot be used here.
    """
    named = bool(entry.model_deployment)
    deployment = (
        _find_named(entry, deployments) if named else _find_by_model(entry.model, deployments)
    )
    if deployment.problem:
        raise ConfigError(
            f"the deployment {deployment.name!r} cannot be used: {deployment.problem}", _ADVICE
        )
    return deployment


def _find_named(entry: RunEntry, deployments: Mapping[str, Deployment]) -> Deployment:
    name = entry.model_deployment
    deployment = deployments.get(name)
    if deployment is None:
        raise ConfigError(
            f"there is no model deployment {name!r}{nearest(name, deployments)}", _ADVICE
        )
    if entry.model and entry.model != deployment.model_name:
        raise ConfigError(
            f"the deployment {name!r} serves {deployment.model_name!r}, and the run entry asks for {entry.model!r}"
        )
    return deployment


def _find_by_model(model: str, deployments: Mapping[str, Deployment]) -> Deployment:
    for deployment in deployments.values():
        if deployment.model_name == model and not deployment.deprecated:
            return deployment
    model_names = {deployment.model_name for deployment in deployments.values()}
    raise ConfigError(
        f"there is no deployment of the model {model!r}{nearest(model, model_names)}", _ADVICE
    )


@dataclass(frozen=True, slots=True)
class _ClientSpec:
    """The keys of `client_spec` that the agent uses; `problem` says why it cannot use the client."""

    base_url: str = ""
    served_model: str = ""
    problem: str | None = None
    unused_keys: tuple[str, ...] = ()


def _read_deployment(section: YamlMap, folder: Path) -> Deployment:
    name = section.name("name")
    model_name = section.name("model_name", name)
    unused = [key for key in _UNUSED if section.skip(key)]
    client_section = section.map("client_spec")
    if client_section is None:
        section.note("client_spec", "is required: class_name, and args with base_url")
        client = _ClientSpec()
    else:
        client = _read_client(client_section)
    _refuse_secrets(section)
    deployment = Deployment(
        name=name,
        model_name=model_name,
        base_url=client.base_url,
        # HELM's default: the model's name without its organisation.
        served_model=client.served_model or model_name.rpartition("/")[2],
        token_file=_read_path(section, "token_file", folder),
        max_in_flight=section.integer("max_in_flight", None, high=4096),
        ca_bundle=_read_path(section, "ca_bundle", folder),
        proxy=section.name("proxy", "") or None,
        max_sequence_length=section.integer("max_sequence_length", None, high=2**63),
        tokenizer_file=_read_path(section, "tokenizer_file", folder),
        prices=_read_prices(section),
        reasoning=section.flag("reasoning", False),
        deprecated=section.flag("deprecated", False),
        unused_keys=(*unused, *client.unused_keys),
        problem=client.problem,
    )
    # HELM writes further keys for clients that the agent cannot use; they are no mistakes.
    if client.problem is None:
        section.finish()
    return deployment


def _read_path(section: YamlMap, key: str, folder: Path) -> Path | None:
    name = section.name(key, "")
    return folder / name if name else None


def _read_prices(section: YamlMap) -> Prices | None:
    prompt_key = "price_per_million_prompt_tokens"
    completion_key = "price_per_million_completion_tokens"
    prompt_price = _read_price(section, prompt_key)
    completion_price = _read_price(section, completion_key)
    gpu_hour_rate = _read_price(section, "gpu_hour_rate")
    gpus = section.integer("gpus", None, high=100_000)
    currency = section.name("currency", "")
    for key, partner in ((prompt_key, completion_key), ("gpu_hour_rate", "gpus")):
        _note_missing_partner(section, key, partner)
        _note_missing_partner(section, partner, key)
    if not any(section.has(key) for key in (prompt_key, completion_key, "gpu_hour_rate")):
        return None
    if not _CURRENCY.fullmatch(currency):
        section.note("currency", "is required with a price: a code of three capitals, such as EUR")
    return Prices(
        currency,
        per_million_prompt_tokens=prompt_price,
        per_million_completion_tokens=completion_price,
        gpu_hour_rate=gpu_hour_rate,
        gpus=gpus,
    )


def _note_missing_partner(section: YamlMap, key: str, partner: str) -> None:
    if section.has(key) and not section.has(partner):
        section.note(key, f"has a meaning only together with {partner}")


def _read_price(section: YamlMap, key: str) -> float | None:
    text = section.text(key, "")
    if not section.has(key):
        return None
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    # NaN compares false, so it is refused with the numbers out of range.
    if not 0 <= price <= _HIGHEST_PRICE:
        section.note(key, f"expected a number from 0 to {_HIGHEST_PRICE:,.0f}")
        return None
    return price


def _read_client(client: YamlMap) -> _ClientSpec:
    class_name = client.name("class_name").rpartition(".")[2]
    is_compatible = class_name in _COMPATIBLE
    problem = (
        None
        if is_compatible
        else f"its client {class_name} is not one for an OpenAI-compatible server"
    )
    args = client.map("args")
    base_url, served_model, unused = "", "", []
    if args is not None:
        base_url = args.name("base_url", "")
        served_model = args.name("vllm_model_name", "") or args.name("openai_model_name", "")
        _refuse_secrets(args)
        address_problem = _find_address_problem(base_url) if is_compatible and base_url else None
        if address_problem:
            args.note("base_url", address_problem)
        unused = [f"client_spec.args.{key}" for key in _UNUSED_ARGS if args.skip(key)]
    if is_compatible:
        if args is not None:
            args.finish()
        client.finish()
    if not problem and not base_url:
        problem = "it has no base_url"
    return _ClientSpec(base_url.rstrip("/"), served_model, problem, tuple(unused))


def _refuse_secrets(section: YamlMap) -> None:
    for key in _SECRET:
        # vLLM's clients in HELM send the word EMPTY for no key.
        if section.has(key) and section.text(key, "") not in ("", "EMPTY"):
            section.note(
                key,
                "a key must not stand in this file; put it in a file of mode 0600 and name that as token_file",
            )


def _find_address_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError where the port is no number or out of range
    except ValueError:
        return "not a web address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "expected an address that begins with http:// or https:// and names a host"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "expected an address without user, password, question mark or fragment"
    return None
