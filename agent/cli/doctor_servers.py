"""The checks of `intramural doctor` that ask the servers of models: what they honour, how much fits, the clock."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from agent.catalog.deployments import Deployment, make_server_deployment, read_deployments
from agent.catalog.model_server import ModelServer
from agent.cli.checks import Check
from agent.cli.doctor_network import check_clock, check_deployment_files
from agent.errors import AgentError, ConfigError, InferenceError
from agent.inference.capabilities import (
    Capabilities,
    Needs,
    list_missing_for_closed_questions,
)
from agent.inference.client import ask_all
from agent.inference.endpoint import describe_address, is_named_by_address, list_addresses
from agent.inference.limits import HttpLimits
from agent.inference.replica_probe import describe_problems, probe_deployment
from agent.inference.window import window_of
from agent.judging.jury_selection import seat_judges
from agent.metrics import Judge
from agent.model_servers.chat_templates import TEMPLATE_ADVICE, describe_missing_template
from agent.model_servers.engines import check_installed
from agent.model_servers.running import ServerFolder
from agent.model_servers.weights import check_weights
from agent.runs.plan import check_reachable
from agent.site.directory import Site
from agent.site.http_limits import http_limits
from agent.vocabulary import ChatRequest, Failure, Message, Response

PATIENCE_S = 60.0  # shorter than the limit of runs, because a person is waiting
ANSWER_TOKENS = 1024  # enough for a model that reasons before it answers


_REFUSED_WITHOUT = ("logprobs", "json_schema", "n")
"""Features without which there is no way to make a run that needs them (agent/inference/capabilities.py)."""
_WORKED_AROUND = {
    "stop": "complete answers are cut at the stop sequence.",
    "seed": "repeated requests may get different answers.",
    "temperature_zero": "repeated requests may get different answers.",
}


def check_servers(site: Site, server: str | None, model: str | None) -> Iterator[Check]:
    """Check every deployment, or the server of `--server`."""
    try:
        if server is not None:
            if model is None:
                raise ConfigError("--server needs a model", "Give --model with --server.")
            deployments = [make_server_deployment(server, model)]
        else:
            deployments = list(read_deployments(site.deployments).values())
    except AgentError as error:
        yield Check("deployments", "failed", str(error), error.advice, error.exit_code)
        return
    if not deployments:
        yield Check(
            "deployments",
            "warning",
            "none yet",
            "Add your servers to model_deployments.yaml, or check one with --server URL --model NAME.",
        )
    for deployment in deployments:
        for check in _check_server(site, deployment):
            yield replace(check, kind=_name_deployment(deployment))


def _check_server(site: Site, deployment: Deployment) -> Iterator[Check]:
    subject = _name_deployment(deployment)
    if deployment.problem:
        yield Check(
            subject,
            "warning",
            f"cannot be used: {deployment.problem}",
            "Runs that name it are refused.",
        )
        return
    if (
        deployment.managed is not None
        and ServerFolder.find(site.servers, deployment.name).read() is None
    ):
        yield _check_idle_server(deployment, deployment.managed)
        return
    yield from check_deployment_files(subject, deployment)
    try:
        deployment = _resolve_deployment(deployment, site)
        capabilities = asyncio.run(probe_deployment(deployment, _shorten_limits(site)))
    except AgentError as error:
        finding = str(error).removeprefix(f"deployment {deployment.name}: ")
        yield Check(subject, "failed", finding, error.advice, error.exit_code)
        return
    kind = (
        capabilities.server
        if capabilities.language_model
        else f"{capabilities.server}, not a language model"
    )
    addresses = [url for url in list_addresses(deployment) if url not in capabilities.left_out]
    where = ", ".join(map(describe_address, addresses))
    yield Check(subject, "ok", f"reachable at {where} ({kind})")
    for problem in describe_problems(deployment, capabilities):
        yield Check(
            f"{subject}, replicas",
            "warning",
            problem.removeprefix(f"deployment {deployment.name}: "),
            "Runs ask the other replicas. Start this one, or remove its address from base_urls."
            if "; it is left out" in problem
            else "Serve all replicas with the same context length, or set max_sequence_length.",
        )
    if deployment.unused_keys:
        yield Check(
            subject,
            "ok",
            f"keys that only HELM uses: {', '.join(deployment.unused_keys)}",
        )
    yield from check_clock(subject, deployment, _shorten_limits(site))
    yield _check_window(deployment, capabilities)
    yield _check_answer(site, deployment, capabilities)
    yield _check_ways_of_asking(deployment, capabilities)
    for name, feature in capabilities.features.items():
        if name in ("choice", "top_logprobs", "prompt_logprobs"):
            continue  # reported with the ways of asking
        if feature.state in ("ignored", "refused") and name == capabilities.token_limit_field:
            yield Check(
                f"{subject}, {name.replace('_', ' ')}",
                "failed",
                f"{feature.finding}; runs and juries that use it are refused",
                "Serve the model with a server that honours token limits.",
                InferenceError.exit_code,
            )
        elif feature.state in ("ignored", "refused"):
            yield Check(
                f"{subject}, {name.replace('_', ' ')}",
                "warning",
                feature.finding,
                _advise_on_lack(name, feature.state),
            )


def _advise_on_lack(name: str, state: str) -> str:
    """Return what becomes of runs that need a feature which the server lacks."""
    if name in _REFUSED_WITHOUT or (name in _WORKED_AROUND and state == "refused"):
        return (
            "Runs that need it are refused before anything is asked; others are not affected. Serve the model with "
            "other software, or with the option that turns it on."
        )
    if name in _WORKED_AROUND:
        return (
            f"Runs that need it go on: {_WORKED_AROUND[name]} A note says so in the forecast of `run --dry-run`, in "
            "the report at the end of the run, and on the run's page."
        )
    return "Runs go on without it; where it matters, a note says so in the report at the end of the run."


def _check_idle_server(deployment: Deployment, managed: ModelServer) -> Check:
    """Report on a server that the agent would start, as far as it can be checked without starting it."""
    subject = _name_deployment(deployment)
    try:
        check_weights(managed, deployment.name)
        check_installed(managed.engine)
    except ConfigError as error:
        finding = str(error).removeprefix(f"deployment {deployment.name}: ")
        return Check(subject, "failed", finding, error.advice, error.exit_code)
    missing = describe_missing_template(managed)
    if missing:
        return Check(subject, "warning", missing, TEMPLATE_ADVICE)
    return Check(
        subject,
        "ok",
        f"does not run now; `run --serve {deployment.name}` starts it ({managed.engine})",
    )


def _check_ways_of_asking(deployment: Deployment, capabilities: Capabilities) -> Check:
    """Report the answer modes that the server can be asked in. Benchmarks need only the first, so none is a warning."""
    ways = ["generate"]
    refused = []
    needs_by_mode = {
        "constrained": Needs(choice=True),
        "logprob": Needs(option_logprobs=True),
        "logprob_text": Needs(text_logprobs=True),
    }
    for mode, needs in needs_by_mode.items():
        problems = list_missing_for_closed_questions(capabilities, needs)
        refused += problems
        if not problems:
            ways.append(mode)
    finding = f"answer_mode can be {', '.join(ways)}"
    if capabilities.choice_field is not None:
        finding += f" (constrained by the field {capabilities.choice_field})"
    return Check(
        f"{_name_deployment(deployment)}, ways of asking",
        "ok",
        "; refused: ".join((finding, *refused)),
    )


def _resolve_deployment(deployment: Deployment, site: Site) -> Deployment:
    """Check that the deployment may be asked, as a model or as an external judge, and return it with its token."""
    outside_hosts = site.settings.outside_judge_hosts
    if all(urlsplit(url).hostname not in outside_hosts for url in list_addresses(deployment)):
        return check_reachable(deployment, site)
    (seat,) = seat_judges(
        [Judge(deployment.name, deployment.model_name)], site, {deployment.name: deployment}
    )
    return seat.deployment


def _name_deployment(deployment: Deployment) -> str:
    """Return a deployment's name for the report; the deployment of `--server` is named by its model."""
    if is_named_by_address(deployment):
        return f"server, model {deployment.model_name}"
    return f"deployment {deployment.name}"


def _check_window(deployment: Deployment, capabilities: Capabilities) -> Check:
    """Report the context window, and whether longer prompts can be shortened."""
    subject = f"{_name_deployment(deployment)}, context window"
    window = window_of(deployment, capabilities)
    counts = {
        "vllm": "the server counts prompts",
        "llama.cpp": "the server counts prompts",
        "tokenizer_file": "prompts are counted by the tokenizer file",
        None: "the tokens of prompts cannot be counted",
    }[capabilities.counting]
    if window is None:
        return Check(
            subject,
            "warning",
            f"the server does not state its context length; {counts}",
            "Set max_sequence_length in its deployment, so that over-long prompts are noticed before they are sent.",
        )
    said = deployment.max_sequence_length
    smaller = (
        f", as set in its deployment ({capabilities.window} served)"
        if said and window != capabilities.window
        else ""
    )
    tokens = f"{window} tokens for prompt and answer{smaller}; {counts}"
    if capabilities.counting is None:
        return Check(
            subject,
            "warning",
            f"{tokens}, so over-long prompts cannot be shortened",
            "Set tokenizer_file to the model's tokenizer.json in its deployment, or use a server that counts tokens.",
        )
    return Check(subject, "ok", f"{tokens}, so over-long prompts can be shortened")


def _shorten_limits(site: Site) -> HttpLimits:
    limits = http_limits(site)
    return replace(
        limits,
        first_attempt_timeout_s=min(PATIENCE_S, limits.first_attempt_timeout_s),
        attempt_timeout_s=min(PATIENCE_S, limits.attempt_timeout_s),
        max_attempts=1,
    )


def _check_answer(site: Site, deployment: Deployment, capabilities: Capabilities) -> Check:
    """Ask one harmless question, as a run would."""
    results: list[Response | Failure] = []
    request = ChatRequest(
        deployment.served_model,
        (Message("user", "Answer with the single word: ready"),),
        min(ANSWER_TOKENS, (window_of(deployment, capabilities) or 2 * ANSWER_TOKENS) // 2),
        extra_body=capabilities.extra_body,
    )
    asyncio.run(
        ask_all(
            deployment,
            [(0, request)],
            lambda _, result: results.append(result),
            max_in_flight=1,
            limits=_shorten_limits(site),
            capabilities=capabilities,
        )
    )
    subject = f"{_name_deployment(deployment)}, answer"
    result = results[0]
    if isinstance(result, Failure):
        status = f" (HTTP {result.status})" if result.status else ""
        return Check(
            subject,
            "failed",
            f"the model gave no answer: {result.reason}{status}",
            "Look at the server's log.",
            4,
        )
    if not result.text.strip():
        return Check(
            subject,
            "warning",
            f"the model's answer was empty after {ANSWER_TOKENS} tokens ({result.finish_reason})",
            "A model that reasons at length needs more tokens: mark its deployment as `reasoning: true`.",
        )
    return Check(subject, "ok", f"the model answers in {result.seconds:.2f} s")
