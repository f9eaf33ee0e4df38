"""Model deployments: where and how a model is served, from `model_deployments.yaml` with HELM's keys and ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.vocabulary import RunEntry


@dataclass(frozen=True, slots=True)
class Deployment:
    """An OpenAI-compatible server and the name it serves a model under.

    Attributes:
        name: as run entries name it, for example "local/qwen".
        model_name: the model, for example "qwen/qwen2.5-7b-instruct".
        base_url: ends in /v1, without a trailing slash; empty when `problem` says why it cannot be used here.
        served_model: the `model` field of requests.
        token_file: file (0600) with the bearer token; None sends none.
        max_in_flight: requests at once; None leaves it to the command line.
        ca_bundle: PEM bundle for TLS; None means the system's trust store.
        proxy: proxy address; None means no proxy.
        max_sequence_length: tokens of prompt (and answer) the server takes; None if unknown.
        reasoning: whether the model thinks before it answers, and so gets `reasoning_max_tokens`.
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
    reasoning: bool = False
    unused_keys: tuple[str, ...] = ()
    problem: str | None = None


def read_deployments(path: Path) -> dict[str, Deployment]:
    """Read a `model_deployments.yaml`, by deployment name, in file order.

    Raises:
        ConfigError: lists every problem with deployment and key; an API key written in the file is one.
    """
    raise NotImplementedError


def ad_hoc(server_url: str, model: str) -> Deployment:
    """Make the deployment that `--server URL` means for `model`.

    Raises:
        ConfigError: not an http(s) address.
    """
    raise NotImplementedError


def deployment_of(entry: RunEntry, deployments: Mapping[str, Deployment]) -> Deployment:
    """Find the deployment an entry names, else the first one of its model.

    Raises:
        ConfigError: there is none, it serves another model, or it cannot be used here.
    """
    raise NotImplementedError
