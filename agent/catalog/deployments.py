"""Model deployments: where and how a model is served, from `model_deployments.yaml` with HELM's keys and ours."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agent.catalog.wording import nearest
from agent.catalog.yaml_map import YamlMap, read_yaml
from agent.errors import ConfigError
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
_UNUSED_ARGS = ("org_id", "reasoning_effort", "output_processor", "timeout", "max_retries", "default_headers")
_SECRET = ("api_key", "token", "password")
_CURRENCY = re.compile(r"[A-Z]{3}")
_HIGHEST_PRICE = 1_000_000.0


@dataclass(frozen=True, slots=True)
class Prices:
    """What asking costs, as far as the deployment says. What it does not say is unknown, not zero.

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

    Answers belong to the deployment's name: whoever lets one name stand for another server or another model makes
    kept answers of the old one pass for the new one's. A changed server deserves a new name.

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
        prices: what asking costs; None if the deployment says nothing of it.
        reasoning: whether the model thinks before it answers, and so gets `reasoning_max_tokens`.
        deprecated: HELM's mark.
        unused_keys: keys of HELM's that have no meaning here, accepted and shown by `doctor`.
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
    found: dict[str, Deployment] = {}
    for m in tree.maps("model_deployments"):
        deployment = _read(m, path.parent)
        # HELM's own file has several twice, all of clients that cannot be used here; there the last one counts.
        if deployment.name in found and not (deployment.problem and found[deployment.name].problem):
            m.note("name", f"{deployment.name!r} is there twice")
        found[deployment.name] = deployment
    tree.finish()
    if tree.problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in tree.problems))
    return found


def ad_hoc(server_url: str, model: str) -> Deployment:
    """Make the deployment that `--server URL` means for `model`, which the server knows by the same name.

    It is named after the address, `server-` and 8 digits of its digest: two servers that know a model by one name are
    two deployments, whose answers are kept apart, and no host's name gets into labels.

    Raises:
        ConfigError: not an http(s) address, or no model.
    """
    problem = _address_problem(server_url)
    if problem:
        raise ConfigError(f"--server: {problem}")
    if not model:
        raise ConfigError("--server needs a model", "Name the model as the server knows it: model=...")
    base_url = server_url.rstrip("/")
    name = f"server-{hashlib.sha256(_normalised(base_url).encode()).hexdigest()[:8]}"
    return Deployment(name=name, model_name=model, base_url=base_url, served_model=model)


def _normalised(base_url: str) -> str:
    """Write one address in one way: scheme and host in small letters, the port always there, no slash at the end."""
    parts = urlsplit(base_url)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"


def deployment_of(entry: RunEntry, deployments: Mapping[str, Deployment]) -> Deployment:
    """Find the deployment an entry names, else the first one of its model that is not deprecated.

    Raises:
        ConfigError: there is none, it serves another model, or it cannot be used here.
    """
    name = entry.model_deployment
    if name:
        deployment = deployments.get(name)
        if deployment is None:
            raise ConfigError(f"there is no model deployment {name!r}{nearest(name, deployments)}", _ADVICE)
        if entry.model and entry.model != deployment.model_name:
            raise ConfigError(
                f"the deployment {name!r} serves {deployment.model_name!r}, and the run entry asks for {entry.model!r}"
            )
    else:
        of_model = [d for d in deployments.values() if d.model_name == entry.model and not d.deprecated]
        if not of_model:
            known = {d.model_name for d in deployments.values()}
            raise ConfigError(
                f"there is no deployment of the model {entry.model!r}{nearest(entry.model, known)}", _ADVICE
            )
        deployment = of_model[0]
    if deployment.problem:
        raise ConfigError(f"the deployment {deployment.name!r} cannot be used: {deployment.problem}", _ADVICE)
    return deployment


_ADVICE = "Add it to model_deployments.yaml, or name a server with --server."


def _read(m: YamlMap, folder: Path) -> Deployment:
    name = m.name("name")
    model_name = m.name("model_name", name)
    unused = [key for key in _UNUSED if m.skip(key)]
    client = m.map("client_spec")
    if client is None:
        m.note("client_spec", "is required: class_name, and args with base_url")
    base_url, served, problem = "", "", None
    if client is not None:
        base_url, served, problem, more = _client(client)
        unused += more
    _refuse_secrets(m)
    token, ca, tokenizer = m.name("token_file", ""), m.name("ca_bundle", ""), m.name("tokenizer_file", "")
    deployment = Deployment(
        name=name,
        model_name=model_name,
        base_url=base_url,
        # HELM's default: the model's name without its organisation.
        served_model=served or model_name.rpartition("/")[2],
        token_file=folder / token if token else None,
        max_in_flight=m.integer("max_in_flight", None, high=4096),
        ca_bundle=folder / ca if ca else None,
        proxy=m.name("proxy", "") or None,
        max_sequence_length=m.integer("max_sequence_length", None, high=2**63),
        tokenizer_file=folder / tokenizer if tokenizer else None,
        prices=_prices(m),
        reasoning=m.flag("reasoning", False),
        deprecated=m.flag("deprecated", False),
        unused_keys=tuple(unused),
        problem=problem,
    )
    if problem is None:
        m.finish()  # what HELM writes for other clients is its own affair
    return deployment


def _prices(m: YamlMap) -> Prices | None:
    prompt, completion = "price_per_million_prompt_tokens", "price_per_million_completion_tokens"
    prices = {key: _price(m, key) for key in (prompt, completion, "gpu_hour_rate")}
    gpus = m.integer("gpus", None, high=100_000)
    currency = m.name("currency", "")
    for one, other, there in (
        (prompt, completion, m.has(completion)),
        (completion, prompt, m.has(prompt)),
        ("gpu_hour_rate", "gpus", m.has("gpus")),
        ("gpus", "gpu_hour_rate", m.has("gpu_hour_rate")),
    ):
        if m.has(one) and not there:
            m.note(one, f"has a meaning only together with {other}")
    if not any(m.has(key) for key in prices):
        return None
    if not _CURRENCY.fullmatch(currency):
        m.note("currency", "is required with a price: a code of three capitals, such as EUR")
    return Prices(currency, prices[prompt], prices[completion], prices["gpu_hour_rate"], gpus)


def _price(m: YamlMap, key: str) -> float | None:
    text = m.text(key, "")
    if not m.has(key):
        return None
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if not 0 <= price <= _HIGHEST_PRICE:
        m.note(key, f"expected a number from 0 to {_HIGHEST_PRICE:,.0f}")
        return None
    return price


def _client(client: YamlMap) -> tuple[str, str, str | None, list[str]]:
    class_name = client.name("class_name")
    short = class_name.rpartition(".")[2]
    args = client.map("args")
    compatible = short in _COMPATIBLE
    problem = None if compatible else f"its client {short} is not one for an OpenAI-compatible server"
    if args is None:
        if compatible:
            client.finish()
        return "", "", problem or "it has no base_url", []
    base_url = args.name("base_url", "")
    served = args.name("vllm_model_name", "") or args.name("openai_model_name", "")
    _refuse_secrets(args)
    if compatible and base_url:
        wrong = _address_problem(base_url)
        if wrong:
            args.note("base_url", wrong)
    unused = [f"client_spec.args.{key}" for key in _UNUSED_ARGS if args.skip(key)]
    if compatible:
        args.finish()
        client.finish()
    return base_url.rstrip("/"), served, problem or (None if base_url else "it has no base_url"), unused


def _refuse_secrets(m: YamlMap) -> None:
    for key in _SECRET:
        # vLLM's clients in HELM send the word EMPTY for no key.
        if m.has(key) and m.text(key, "") not in ("", "EMPTY"):
            m.note(key, "a key must not stand in this file; put it in a file of mode 0600 and name that as token_file")


def _address_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "not a web address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "expected an address that begins with http:// or https:// and names a host"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "expected an address without user, password, question mark or fragment"
    return None
