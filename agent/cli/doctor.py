"""The checks of `intramural doctor`, each with a finding and advice. They change nothing."""

import asyncio
import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.deployments import Deployment, make_server_deployment, read_deployments
from agent.catalog.judges import read_jury
from agent.catalog.model_server import ModelServer
from agent.datasets.manage.check import read_data
from agent.datasets.manage.register import check_data
from agent.errors import AgentError, ConfigError, InferenceError
from agent.inference.capabilities import (
    Capabilities,
    Needs,
    list_missing_for_closed_questions,
)
from agent.inference.client import ask_all
from agent.inference.limits import HttpLimits
from agent.inference.replica_probe import probe_deployment
from agent.inference.window import window_of
from agent.judging.judge_run import select_jury_measures
from agent.judging.jury_selection import describe_own_judge, is_on_own_jury, seat_judges
from agent.jury.seats import compute_quorum, describe_equal_seats
from agent.keys import KeyRole, load_signer, read_data_key, read_seal_key
from agent.metrics import Judge, MetricUse
from agent.model_servers.engines import check_installed
from agent.model_servers.running import ServerFolder
from agent.model_servers.weights import check_weights
from agent.runs.plan import check_reachable
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.site.http_limits import http_limits
from agent.store import Run
from agent.vocabulary import ChatRequest, Failure, Message, Response, Unscored

if TYPE_CHECKING:
    from agent.own_metrics.source import MetricSource

Verdict = Literal["ok", "warning", "failed"]

PATIENCE_S = 60.0  # shorter than the limit of runs, because a person is waiting
MIN_SEATS = (
    2  # minimum seats of a jury, since a single judge's grades cannot be compared with another's
)
ANSWER_TOKENS = 1024  # enough for a model that reasons before it answers
IDENTIFIERS = ("Margarethe Oberhuber-Quill", "555-867-5309", "MRN 4471982", "03/14/1951")
SPECIMEN = "Patient name: {}, phone {}, {}, born {}, was seen for chest pain.".format(*IDENTIFIERS)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report. `exit_code` is the exit code of the error behind a failure."""

    subject: str
    verdict: Verdict
    finding: str
    advice: str = ""
    exit_code: int = 0


def examine(site: Site, server: str | None = None, model: str | None = None) -> Iterator[Check]:
    """Run all checks, each after the checks that it depends on.

    Args:
        site: the site directory; it may be broken.
        server: check this server instead of those in model_deployments.yaml.
        model: the model to request from `server`.
    """
    settings = _run_check("settings", lambda: _check_settings(site))
    yield settings
    if settings.verdict == "failed":
        yield from _list_digests(site)
        return  # the other checks need the settings
    yield _run_check("site directory", lambda: _check_directory(site))
    yield _run_check("data key", lambda: _check_data_key(site))
    yield _run_check("seal key", lambda: _check_seal_key(site))
    yield _run_check("agent key", lambda: _check_agent_key(site))
    yield _run_check("store", lambda: _check_store(site))
    yield from _check_benchmarks(site)
    yield _run_check("redaction", lambda: _check_redaction(site))
    if site.settings.bertscore_model is not None:
        yield _run_check("BERTScore", lambda: _check_bertscore(site))
    yield from _check_own_metrics(site)
    yield _run_check("disclosure policy", lambda: _check_disclosure(site))
    yield _run_check("approval", lambda: _check_approval(site))
    yield _run_check("outgoing", lambda: _check_outgoing(site))
    yield from _check_servers(site, server, model)
    if server is None:
        yield _run_check("jury", lambda: _check_jury(site))


def _run_check(subject: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except AgentError as error:
        return Check(subject, "failed", str(error), error.advice, error.exit_code)


def _check_settings(site: Site) -> Check:
    return Check(
        "settings", "ok", f"site.yaml is readable and every setting is known ({site.name})"
    )


def _check_directory(site: Site) -> Check:
    mode = site.directory.stat().st_mode & 0o777
    if mode & 0o077:
        return Check(
            "site directory",
            "warning",
            f"other accounts may enter it (mode {mode:o})",
            "chmod 700 the site directory.",
        )
    return Check("site directory", "ok", "only its owner may enter it")


def _check_data_key(site: Site) -> Check:
    read_data_key(site.keys / "data.key")
    return Check("data key", "ok", "present, and only its owner may read it")


def _check_seal_key(site: Site) -> Check:
    read_seal_key(site.keys / "seal.key")
    return Check("seal key", "ok", "present, and only its owner may read it")


def _check_agent_key(site: Site) -> Check:
    signer = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    return Check(
        "agent key",
        "ok",
        f"present, and only its owner may read it; fingerprint {signer.public.keyid[:16]}",
    )


def _check_store(site: Site) -> Check:
    with site.store() as store:
        entries = len(store.audit.read_events())
        suites = len(store.runs.list_suites())
    return Check(
        "store",
        "ok",
        f"can be decrypted with the data key; {suites} suites, {entries} audit entries, none changed",
    )


def _check_benchmarks(site: Site) -> Iterator[Check]:
    benchmarks, broken = survey_benchmarks(site.own_benchmarks)
    for benchmark in benchmarks.values():
        subject = f"benchmark {benchmark.id}"
        yield _run_check(subject, partial(_check_dataset, subject, site, benchmark))
    for benchmark_file in broken:
        name = benchmark_file.names[0] if benchmark_file.names else benchmark_file.path.name
        error = benchmark_file.error
        yield Check(f"benchmark {name}", "failed", str(error), error.advice, error.exit_code)


def _check_dataset(subject: str, site: Site, benchmark: Benchmark) -> Check:
    """Report the same state as `datasets list`; if the data was never read before, read it and report its problems."""
    state = check_data(benchmark, site.data)
    if state.state == "sample only":
        return Check(subject, "ok", f"sample only: {state.detail}")
    if state.state != "ready":
        return Check(
            subject,
            "warning",
            f"data {state.state}: {state.detail}",
            "Correct the data before running the benchmark.",
        )
    if state.instances is not None:
        return Check(subject, "ok", f"{state.detail}, {state.instances} instances")
    data = read_data(benchmark, site.data)
    finding = f"{state.detail}; {data.instances} instances read now, no problem found"
    if benchmark.dataset_file or not data.problems:
        return Check(subject, "ok", finding)
    return Check(
        subject,
        "warning",
        "; ".join((finding, *data.problems)),
        f"Add it with `intramural datasets add {benchmark.id} PATH --replace`, so that later changes are noticed.",
    )


def _check_redaction(site: Site) -> Check:
    from agent.redaction import open_redactor

    redactor = open_redactor(site.settings.redaction_policy, site.directory)
    shown = redactor.redact(SPECIMEN)
    missed = sum(identifier in shown for identifier in IDENTIFIERS)
    if missed:
        return Check(
            "redaction",
            "failed",
            f"{missed} of {len(IDENTIFIERS)} planted identifiers were missed",
            "Choose another redaction_policy in site.yaml. Do not show texts to anyone until this is repaired.",
            5,
        )
    return Check(
        "redaction", "ok", f"engine ready ({redactor.policy}); planted identifiers were removed"
    )


def _check_bertscore(site: Site) -> Check:
    from agent.metrics import Means, bert_score

    encoder = bert_score.check("this site", site.means)
    probe_of = bert_score.BertScoreComparison("chest pain", ("chest pain",), "intramural")
    (figures,) = bert_score.triples([probe_of], Means(encoder.folder, encoder.layer))
    if isinstance(figures, Unscored) or abs(figures[2] - 1) > 1e-3:
        return Check(
            "BERTScore",
            "failed",
            "the encoder does not find a text similar to itself",
            "Copy the encoder's folder again.",
            2,
        )
    return Check(
        "BERTScore",
        "ok",
        f"encoder ready ({encoder.family}, layer {encoder.layer} of {encoder.layers}, sha256 {encoder.digest[:16]})",
    )


def _check_own_metrics(site: Site) -> Iterator[Check]:
    """Load the site's own metrics, and report the files of its folder that are not enabled."""
    enabled = set()
    for source in site.own_metrics:
        enabled.add(source.file)
        yield _run_check(f"own metric {source.name}", partial(_check_own_metric, source))
    files = sorted(site.plugins.glob("*.py"))
    for file in files:
        if file not in enabled:
            yield _run_check(f"own metric {file.stem}", partial(_describe_idle_file, file))


def _list_digests(site: Site) -> Iterator[Check]:
    """Report the digests of the own metrics, which the settings need, although the settings cannot be read."""
    for file in sorted(site.plugins.glob("*.py")):
        yield _run_check(f"own metric {file.stem}", partial(_describe_digest, file))


def _describe_digest(file: Path) -> Check:
    from agent.own_metrics.source import MetricSource, read_code

    shown = f"{file.parent.name}/{file.name}"
    code = read_code(MetricSource(file.stem, "", file, shown))
    return Check(f"own metric {file.stem}", "ok", f"{shown} has sha256 {code.sha256}")


def _check_own_metric(source: "MetricSource") -> Check:
    from agent.own_metrics.process import declare
    from agent.own_metrics.source import read_approved_code

    declared = declare(read_approved_code(source))
    finding = (
        f"{declared.display_name}, {declared.low} to {declared.high}; {source.shown}, sha256 "
        f"{declared.sha256}"
    )
    return Check(f"own metric {source.name}", "ok", finding)


def _describe_idle_file(file: Path) -> Check:
    from agent.own_metrics.source import MetricSource, read_code

    shown = f"{file.parent.name}/{file.name}"
    code = read_code(MetricSource(file.stem, "", file, shown))
    finding = f"{shown} is not enabled, so it never runs; its sha256 is {code.sha256}"
    return Check(f"own metric {file.stem}", "ok", finding)


def _check_disclosure(site: Site) -> Check:
    from agent.disclosure.policy import read_policy

    policy = read_policy(site.settings.disclosure_policy, site.directory)
    return Check(
        "disclosure policy",
        "ok",
        f"{policy.name} {policy.version}: at least {policy.min_units} units behind a published cell of private data",
    )


def _check_approval(site: Site) -> Check:
    if site.settings.one_account_approval:
        return Check(
            "approval",
            "warning",
            "one account may approve its own submissions (one_account_approval in site.yaml)",
            "Remove that setting except in trials. The steward should approve on another computer.",
        )
    return Check(
        "approval",
        "ok",
        "by a second person: a steward's key that this site's account can read is refused",
    )


def _check_outgoing(site: Site) -> Check:
    """Report all addresses that the agent can reach: those in the settings and in the invite."""
    outside = [host for host in site.settings.allowed_hosts if not _is_inside(host)]
    aggregator = _aggregator_url(site)
    way = " through the proxy of site.yaml" if site.settings.proxy else ""
    finding = (
        f"submissions go to {urlsplit(aggregator).hostname}{way}"
        if aggregator
        else "submissions leave as files only"
    )
    judges = len(site.settings.outside_judge_hosts)
    if judges:
        finding += f"; redacted text may be sent to judges on {judges} external hosts"
    if outside:
        return Check(
            "outgoing",
            "warning",
            f"prompts may be sent to {len(outside)} hosts that are not private addresses; {finding}",
            "Make sure that every host in allowed_hosts is inside the hospital's network.",
        )
    return Check(
        "outgoing",
        "ok",
        f"prompts go to allowed_hosts only, never through a proxy of the site; {finding}",
    )


def _aggregator_url(site: Site) -> str:
    """Return the address that `submission send` would use, from site.yaml or else from the invite; "" if neither."""
    from agent.delivery.membership import Federation

    if site.settings.aggregator_url or not (site.submissions / "membership.json").exists():
        return site.settings.aggregator_url or ""
    return Federation(site.submissions).read_membership().url


def _is_inside(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_private or address.is_loopback


def _check_servers(site: Site, server: str | None, model: str | None) -> Iterator[Check]:
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
        yield from _check_server(site, deployment)


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
    try:
        deployment = _resolve_deployment(deployment, site)
        capabilities = asyncio.run(probe_deployment(deployment, _shorten_limits(site)))
    except AgentError as error:
        finding = str(error).removeprefix(f"deployment {deployment.name}: ")
        yield Check(subject, "failed", finding, error.advice, error.exit_code)
        return
    if deployment.unused_keys:
        yield Check(
            subject,
            "ok",
            f"keys that only HELM uses: {', '.join(deployment.unused_keys)}",
        )
    kind = (
        capabilities.server
        if capabilities.language_model
        else f"{capabilities.server}, not a language model"
    )
    yield Check(subject, "ok", f"reachable ({kind})")
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
                "Runs that need it are refused, or note the workaround.",
            )


def _check_idle_server(deployment: Deployment, managed: ModelServer) -> Check:
    """Report on a server that the agent would start, as far as it can be checked without starting it."""
    subject = _name_deployment(deployment)
    try:
        check_weights(managed, deployment.name)
        check_installed(managed.engine)
    except ConfigError as error:
        finding = str(error).removeprefix(f"deployment {deployment.name}: ")
        return Check(subject, "failed", finding, error.advice, error.exit_code)
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
    if urlsplit(deployment.base_url).hostname not in site.settings.outside_judge_hosts:
        return check_reachable(deployment, site)
    (seat,) = seat_judges(
        [Judge(deployment.name, deployment.model_name)], site, {deployment.name: deployment}
    )
    return seat.deployment


def _check_jury(site: Site) -> Check:
    """Report on the site's jury; its servers are checked with the other deployments."""
    if not site.judges.is_file():
        return Check(
            "jury",
            "ok",
            "none; answers in free text are judged only if a run or a benchmark names judges",
        )
    jury = read_jury(site.judges)
    seats = seat_judges(jury.judges, site, read_deployments(site.deployments))
    quorum = compute_quorum(MetricUse("jury_score", judges=jury.judges, quorum=jury.quorum))
    outside = sum(seat.outside for seat in seats)
    sent = f"; {outside} of them are external and get redacted text only" if outside else ""
    names = ", ".join(dict.fromkeys(seat.label for seat in seats))
    finding = f"{len(seats)} seats ({names}), of which {quorum} must give a valid verdict{sent}"
    if equal_seats := describe_equal_seats(jury.judges):
        advice = f"Correct {site.judges.name}."
        return Check("jury", "warning", f"{finding}; {'; '.join(equal_seats)}", advice)
    if len(seats) < MIN_SEATS:
        return Check(
            "jury", "warning", finding, "Name at least three judges of different families."
        )
    with site.store() as store:
        judged = {run.deployment for run in store.runs.select() if _has_jury(run)}
    if own := [name for name in sorted(judged) if is_on_own_jury(name, seats)]:
        told = "; ".join(describe_own_judge(name) for name in own)
        return Check(
            "jury",
            "warning",
            f"{finding}; {told}",
            "For that model's runs, name a jury without the model with --judges.",
        )
    return Check("jury", "ok", finding)


def _has_jury(run: Run) -> bool:
    return not run.imported and bool(select_jury_measures(Rules.of_run(run.details)))


def _name_deployment(deployment: Deployment) -> str:
    """Return a deployment's name for the report; the deployment of `--server` is named by its model."""
    if deployment.name.startswith("server-"):
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
