"""Read model deployments from `model_deployments.yaml`, which has HELM's keys and some additional ones."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agent.catalog.model_names import find_models
from agent.catalog.model_server import ModelServer, read_model_server
from agent.errors import ConfigError
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap, read_yaml
from agent.vocabulary import RunEntry

# HELM's clients for OpenAI-compatible servers, the only kind of server that the agent supports.
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
_ADVICE = "Add it to model_deployments.yaml, or give the address of a server with --server."


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of using a model. A missing price is unknown, not zero.

    Attributes:
        currency: a code of three capitals, for example "EUR".
        per_million_prompt_tokens, per_million_completion_tokens: prices per million tokens; either both or none.
        gpu_hour_rate: the price of one GPU for one hour; only together with `gpus`.
        gpus: the number of GPUs that serve the deployment.
    """

    currency: str
    per_million_prompt_tokens: float | None = None
    per_million_completion_tokens: float | None = None
    gpu_hour_rate: float | None = None
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Deployment:
    """An OpenAI-compatible server, and the name under which it serves a model.

    Stored answers are identified by the deployment's name. If the server or model changes, the deployment needs a new
    name. Otherwise the old answers would be attributed to the new model.

    Attributes:
        name: the name in run entries, for example "local/qwen".
        model_name: the model, for example "qwen/qwen2.5-7b-instruct".
        base_url: the address, which usually ends with /v1 and has no trailing slash; empty if `problem` is set.
        replicas: the addresses of all servers of the model, `base_url` first; empty if `base_url` is the only one.
        served_model: the `model` field of requests.
        served_model_key: the key of `client_spec.args` that states it, or would state it.
        token_file: a file (mode 0600) with the bearer token; if None, no token is sent.
        max_in_flight: the maximum number of simultaneous requests to each server; if None, the command line decides.
        ca_bundle: a PEM file for TLS, or None for the system's trust store.
        proxy: the address of the deployment's own proxy, or None. The site's outgoing proxy leads out of the
            hospital and is never used for prompts.
        max_sequence_length: the maximum number of tokens in prompt and answer; None if unknown.
        tokenizer_file: the model's `tokenizer.json`, used to count tokens if the server cannot.
        prices: the prices of using the deployment, or None if unknown.
        reasoning: whether the model reasons before it answers, and is therefore given `reasoning_max_tokens`.
        deprecated: whether HELM's file marks the deployment as deprecated.
        managed: how the agent starts the server itself, or None for a server that others run. A managed deployment has
            no address until its server runs (`agent.model_servers`).
        unused_keys: HELM's keys that the agent accepts but does not use; shown by `doctor`.
        problem: the reason why the agent cannot use the deployment, or None.
    """

    name: str
    model_name: str
    base_url: str
    served_model: str
    served_model_key: str = "openai_model_name"
    replicas: tuple[str, ...] = ()
    token_file: Path | None = None
    max_in_flight: int | None = None
    ca_bundle: Path | None = None
    proxy: str | None = None
    max_sequence_length: int | None = None
    tokenizer_file: Path | None = None
    prices: Prices | None = None
    reasoning: bool = False
    deprecated: bool = False
    managed: ModelServer | None = None
    unused_keys: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def weights_digest(self) -> str | None:
        """SHA-256 over the weights' files, if the agent itself serves them; None if only the server knows them."""
        return (self.managed.digest or None) if self.managed else None

    @property
    def answers_name(self) -> str:
        """The name under which answers are stored. Other weights are another model, which is asked anew."""
        return f"{self.name} {self.weights_digest}" if self.weights_digest else self.name


def read_deployments(path: Path) -> dict[str, Deployment]:
    """Read the deployments in `model_deployments.yaml`, by name. Paths in the file are relative to the file's folder.

    Raises:
        ConfigError: the file has problems, such as an API key; all are listed with deployment and key.
    """
    tree = read_yaml(path, ConfigError)
    deployments: dict[str, Deployment] = {}
    for section in tree.maps("model_deployments"):
        deployment = _read_deployment(section, path.parent)
        earlier = deployments.get(deployment.name)
        # HELM's own file repeats several deployments, all with unsupported clients. In that case the last one is used.
        if earlier and not (deployment.problem and earlier.problem):
            section.note("name", f"{deployment.name!r} occurs twice")
        deployments[deployment.name] = deployment
    tree.finish()
    if tree.problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in tree.problems))
    return deployments


def make_server_deployment(server_url: str, model: str) -> Deployment:
    """Return the deployment for `--server URL` and a model that the server serves under the name `model`.

    Its name is `server-` and 8 digits of the address's digest. Two servers of the same model are thus separate
    deployments with separate answers, and labels contain no host name.

    Raises:
        ConfigError: the address is not http(s), or there is no model.
    """
    problem = _find_address_problem(server_url)
    if problem:
        raise ConfigError(f"--server: {problem}")
    if not model:
        raise ConfigError(
            "--server needs a model",
            "Add the name under which the server serves the model: model=...",
        )
    base_url = server_url.rstrip("/")
    name = f"server-{hashlib.sha256(_normalise_address(base_url).encode()).hexdigest()[:8]}"
    return Deployment(name=name, model_name=model, base_url=base_url, served_model=model)


def _normalise_address(base_url: str) -> str:
    """Normalise an address to a lower-case scheme and host, with a port and without a trailing slash."""
    parts = urlsplit(base_url)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"


def find_deployment(entry: RunEntry, deployments: Mapping[str, Deployment]) -> Deployment:
    """Return the deployment that an entry names, or if it names none, the first for its model that is not deprecated.

    Raises:
        ConfigError: there is no such deployment, it serves another model, or it cannot be used.
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
    if entry.model and not find_models(entry.model, [deployment.model_name]):
        raise ConfigError(
            f"the deployment {name!r} serves {deployment.model_name!r}, but the run entry has model={entry.model}"
        )
    return deployment


def _find_by_model(model: str, deployments: Mapping[str, Deployment]) -> Deployment:
    for deployment in deployments.values():
        if deployment.model_name == model and not deployment.deprecated:
            return deployment
    current = [each.model_name for each in deployments.values() if not each.deprecated]
    meant = find_models(model, current)
    if len(meant) > 1:
        raise ConfigError(
            f"the model {model!r} may be {' or '.join(meant)}",
            "Write the whole name in the run entry.",
        )
    if meant:
        return _find_by_model(meant[0], deployments)
    model_names = {deployment.model_name for deployment in deployments.values()}
    raise ConfigError(
        f"there is no deployment of the model {model!r}{nearest(model, model_names)}", _ADVICE
    )


@dataclass(frozen=True, slots=True)
class _ClientSpec:
    """The keys of `client_spec` that the agent uses. `problem` is the reason why the client cannot be used, if any."""

    base_url: str = ""
    replicas: tuple[str, ...] = ()
    served_model: str = ""
    served_model_key: str = ""
    problem: str | None = None
    unused_keys: tuple[str, ...] = ()


def _read_deployment(section: YamlMap, folder: Path) -> Deployment:
    name = section.name("name")
    model_name = section.name("model_name", name)
    unused = [key for key in _UNUSED if section.skip(key)]
    server_section = section.map("model_server")
    managed = None if server_section is None else read_model_server(server_section, folder)
    client = _read_client_spec(section, managed)
    _refuse_secrets(section)
    deployment = Deployment(
        name=name,
        model_name=model_name,
        base_url=client.base_url,
        replicas=client.replicas,
        # As in HELM, the default is the model's name without its organisation.
        served_model=client.served_model or model_name.rpartition("/")[2],
        served_model_key=client.served_model_key or "model_name",
        token_file=_read_path(section, "token_file", folder),
        max_in_flight=section.integer("max_in_flight", None, high=4096),
        ca_bundle=_read_path(section, "ca_bundle", folder),
        proxy=section.name("proxy", "") or None,
        max_sequence_length=section.integer("max_sequence_length", None, high=2**63),
        tokenizer_file=_read_path(section, "tokenizer_file", folder),
        prices=_read_prices(section),
        reasoning=section.flag("reasoning", False),
        deprecated=section.flag("deprecated", False),
        managed=managed,
        unused_keys=(*unused, *client.unused_keys),
        problem=client.problem,
    )
    # For other clients, HELM has additional keys, which are not mistakes.
    if client.problem is None:
        section.finish()
    return deployment


def _read_client_spec(section: YamlMap, managed: ModelServer | None) -> _ClientSpec:
    client_section = section.map("client_spec")
    if managed is not None:
        if client_section is not None:
            section.note(
                "client_spec", "has no meaning with model_server, whose address is the agent's"
            )
        return _ClientSpec(served_model=section.name("model_name", section.name("name")))
    if client_section is None:
        section.note(
            "client_spec",
            "is required, with class_name and args that contain base_url, unless there is a model_server",
        )
        return _ClientSpec()
    return _read_client(client_section)


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
        section.note(
            "currency", "is required with a price, as a code of three capitals such as EUR"
        )
    return Prices(
        currency,
        per_million_prompt_tokens=prompt_price,
        per_million_completion_tokens=completion_price,
        gpu_hour_rate=gpu_hour_rate,
        gpus=gpus,
    )


def _note_missing_partner(section: YamlMap, key: str, partner: str) -> None:
    if section.has(key) and not section.has(partner):
        section.note(key, f"can only be used together with {partner}")


def _read_price(section: YamlMap, key: str) -> float | None:
    text = section.text(key, "")
    if not section.has(key):
        return None
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    # Comparisons with NaN are false, so NaN is refused as well.
    if not 0 <= price <= _HIGHEST_PRICE:
        section.note(key, f"expected a number from 0 to {_HIGHEST_PRICE:,.0f}")
        return None
    return price


def _read_client(client: YamlMap) -> _ClientSpec:
    class_name = client.name("class_name").rpartition(".")[2]
    is_compatible = class_name in _COMPATIBLE
    problem = (
        None if is_compatible else f"its client {class_name} is not for an OpenAI-compatible server"
    )
    args = client.map("args")
    urls: tuple[str, ...] = ()
    served_model, unused = "", []
    key = "vllm_model_name" if class_name.startswith("VLLM") else "openai_model_name"
    if args is not None:
        urls = _read_addresses(args, is_compatible=is_compatible)
        for each in ("vllm_model_name", "openai_model_name"):
            name = "" if served_model else args.name(each, "")
            if name:
                key, served_model = each, name
        _refuse_secrets(args)
        unused = [f"client_spec.args.{key}" for key in _UNUSED_ARGS if args.skip(key)]
    if is_compatible:
        if args is not None:
            args.finish()
        client.finish()
    if not problem and not urls:
        problem = "it has no base_url"
    return _ClientSpec(
        base_url=urls[0] if urls else "",
        replicas=urls if len(urls) > 1 else (),
        served_model=served_model,
        served_model_key=key,
        problem=problem,
        unused_keys=tuple(unused),
    )


def _read_addresses(args: YamlMap, *, is_compatible: bool) -> tuple[str, ...]:
    """Return the address in `base_url`, or the addresses in `base_urls`, without trailing slashes.

    Problems of the addresses are noted only if the agent supports their client.
    """
    base_url = args.name("base_url", "")
    if not args.has("base_urls"):
        if base_url and is_compatible:
            _note_address_problem(args, "base_url", base_url)
        return (base_url.rstrip("/"),) if base_url else ()
    urls = args.names("base_urls")
    if base_url:
        args.note("base_urls", "cannot be combined with base_url; list all addresses here")
    if not urls:
        args.note("base_urls", "expected a list of addresses")
    if is_compatible:
        for url in urls:
            _note_address_problem(args, "base_urls", url)
    addresses = [url.rstrip("/") for url in urls]
    if len(set(addresses)) < len(addresses):
        args.note("base_urls", "an address occurs twice")
    return tuple(addresses)


def _note_address_problem(args: YamlMap, key: str, url: str) -> None:
    problem = _find_address_problem(url)
    if problem:
        args.note(key, problem)


def _refuse_secrets(section: YamlMap) -> None:
    for key in _SECRET:
        # HELM's clients for vLLM send EMPTY if there is no key.
        if section.has(key) and section.text(key, "") not in ("", "EMPTY"):
            section.note(
                key,
                "this file must not contain a key; put it in a file with mode 0600 and set token_file to that file",
            )


def _find_address_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if the port is not a number or is out of range
    except ValueError:
        return "expected a web address, such as http://127.0.0.1:8000/v1"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "expected an address that begins with http:// or https:// and has a host"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "expected an address without user, password, query or fragment"
    return None
