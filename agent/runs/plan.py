"""Turn run entries into plans: the questions, the server to query, and the rules that score the answers.

Every fault in an entry, its data or its jury is reported here, before the first question is asked.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from agent.catalog.arguments import DATA_ARGUMENTS, FILE_ARGUMENTS
from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.deployment_map import (
    DeploymentMap,
    check_deployments,
    map_deployments,
    read_deployment_map,
)
from agent.catalog.deployments import (
    Deployment,
    find_deployment,
    make_server_deployment,
    read_deployments,
)
from agent.catalog.parser_choice import PARSER_KEYS, choose_parser
from agent.catalog.run_entries import (
    Overrides,
    check_data_paths,
    compute_token_limit,
    ignore_data_paths,
    read_overrides,
    resolve_benchmark,
)
from agent.datasets.identity import UNIT
from agent.datasets.load import Dataset, iter_instances
from agent.datasets.references import LETTERS
from agent.datasets.row_numbers import RowNumbers
from agent.errors import BenchmarkError, ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.closed_questions import TEXT_MODES, write_fields
from agent.inference.endpoint import describe_deployment, list_addresses
from agent.judging.jury_selection import (
    SeatedJudge,
    advise_judging_later,
    choose_jury,
    map_jury,
    seat_judges,
)
from agent.metrics import AnswerParser, Judge, MetricUse, check_available, select_measurable
from agent.model_servers.start import resolve_managed
from agent.runs.definition import (
    choose_lineage,
    list_changed_arguments,
    list_free_arguments,
    list_required_values,
    read_prompt_limit,
)
from agent.runs.instances import Instances
from agent.runs.run_data import choose_data
from agent.scoring.deferred import bind_metrics
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.store.run_details import KeptData, RunDetails
from agent.vocabulary import (
    AnswerMode,
    ChatRequest,
    ClosedQuestion,
    Instance,
    RunEntry,
    ScoringChoice,
)

SUITE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Expanders that select instances and do not change the questions.
_SILENT = frozenset({"max_eval_instances"})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Command-line options for all run entries. None leaves the choice to the entry, benchmark or site.

    Attributes:
        replace: replace a run of the same name in the suite that used other instances or rules.
        deployment_map: file that maps the deployments named in entries to deployments of this site.
        ignore_data_paths: use the site's own data regardless of the files that the entries name.
        max_train_instances: maximum number of solved examples before a question.
        answer_mode: the way of asking, for entries that set none.
        judges: file with the jury, replacing the one named by the entry, the benchmark or the site.
        no_judging: store the answers without asking the jury.
        unregistered: read the current files of protected benchmarks, not the registered version.
        plan: digest of the submission's plan whose challenge gave `sample_seed`; empty if there is none.
        exit_on_error: start no further run after one in which an instance failed.
        judged_later: deployments whose servers are started after all answers are stored. A jury with a judge on one of
            them is asked then.
        private: keep new runs from others on the service.
    """

    suite: str
    max_eval_instances: int | None = None
    sample_seed: int = 0
    max_in_flight: int | None = None
    scoring: ScoringChoice | None = None
    server: str | None = None
    replace: bool = False
    deployment_map: Path | None = None
    ignore_data_paths: bool = False
    max_train_instances: int | None = None
    answer_mode: AnswerMode | None = None
    judges: Path | None = None
    no_judging: bool = False
    unregistered: bool = False
    plan: str = ""
    exit_on_error: bool = False
    judged_later: frozenset[str] = frozenset()
    private: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is ready to start.

    Attributes:
        name: identifies the run within its suite by benchmark, arguments, model and deployment; contains no file name.
        arguments: the benchmark's own arguments, with defaults filled in.
        prompt_limit: maximum tokens per prompt set by an argument, in addition to the model's own limit.
        overrides: names of the benchmark settings that the run entry changed.
        named_data: whether the run entry named the files.
        attested: whether the data needs no agreement, or a person attested that the site has accepted one.
        sampled: maximum number of instances, if one was given.
        left_out: optional metrics that cannot be computed because the site has no encoder.
        registered: commitment of the registered version of the data; empty if unregistered data is read.
        frozen_digest: digest over all files of that version; empty if unregistered data is read.
        promised_by: digest of the submission's plan that determined the sample; empty if none did.
        row_numbers: see `KeptData.row_numbers`.
        data_note: a warning about the data; empty if there is none.
        answer_mode: the way of asking.
        jury: the judges that grade the answers; empty if no jury is asked now.
        private: whether the run is kept from others on the service.
    """

    name: str
    suite: str
    benchmark: Benchmark
    dataset: Dataset
    model: str
    deployment: Deployment
    instances: Instances
    rules: Rules
    max_tokens: int
    temperature: float
    stop: tuple[str, ...]
    max_in_flight: int
    arguments: Mapping[str, str]
    prompt_limit: int | None
    overrides: tuple[str, ...]
    named_data: bool
    attested: bool
    sampled: int | None
    sample_seed: int
    jury: tuple[SeatedJudge, ...] = ()
    left_out: tuple[str, ...] = ()
    registered: str = ""
    frozen_digest: str = ""
    promised_by: str = ""
    row_numbers: str | None = None
    data_note: str = ""
    answer_mode: AnswerMode = "generate"
    private: bool = False

    @property
    def available(self) -> int:
        """Number of instances in the dataset, before sampling."""
        return self.instances.available

    @property
    def scoring(self) -> ScoringChoice:
        """The choice of scoring rules."""
        return self.rules.scoring

    @property
    def lineage(self) -> str:
        """Lineage of the units; see `choose_lineage`."""
        return self.rules.lineage

    @property
    def unit_named(self) -> bool:
        """Whether the data names the patient or document of each instance. Row numbers do not count as names."""
        column = self.benchmark.unit_column
        return column is not None and not (column == UNIT and self.instances.numbered)

    def request(self, instance: Instance, capabilities: Capabilities) -> ChatRequest:
        """Return the request for the question of `instance`, as the server must be asked."""
        extra_body: dict[str, object] = dict(capabilities.extra_body)
        closed = None
        if self.answer_mode != "generate":
            closed = _close_question(self.answer_mode, instance)
            extra_body |= write_fields(closed, capabilities.choice_field)
        return ChatRequest(
            model=self.deployment.served_model,
            messages=instance.messages,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            stop=self.stop,
            extra_body=extra_body,
            shortenable=instance.shortenable,
            closed=closed,
        )

    def scored_by(self) -> list[str]:
        """Return the rules, metrics and options that determine the scores for given answers."""
        return self.rules.identity()

    def details(self, capabilities: Capabilities, workarounds: Sequence[str]) -> RunDetails:
        """Return the details that are stored and shown with the run."""
        benchmark = self.benchmark
        details = RunDetails(
            display_name=benchmark.display_name,
            category=benchmark.category,
            subcategory=benchmark.subcategory,
            access=benchmark.access,
            benchmark_digest=benchmark.digest,
            lineage=self.lineage,
            unit=benchmark.unit,
            unit_named=self.unit_named,
            arguments=dict(self.arguments),
            free_arguments=tuple(list_free_arguments(benchmark, self.arguments)),
            parts=list_required_values(benchmark),
            overrides=self.overrides,
            left_out=self.left_out,
            sampled=self.sampled,
            sample_seed=self.sample_seed,
            plan=self.promised_by,
            data=KeptData(
                known=self.dataset.known,
                own=benchmark.dataset_file is not None,
                named=self.named_data,
                attested=self.attested,
                registered=self.registered,
                frozen_digest=self.frozen_digest,
                digest=self.dataset.digest,
                instances=self.available,
                row_numbers=self.row_numbers,
                problems=tuple(self.dataset.problems),
            ),
            max_tokens=self.max_tokens,
            prompt_limit=self.prompt_limit,
            temperature=self.temperature,
            stop=self.stop,
            answer_mode=self.answer_mode,
            language_model=capabilities.language_model,
            capabilities=capabilities.to_json(),
            workarounds=tuple(workarounds),
            weights=self.deployment.weights_digest,
        )
        return self.rules.put_into(details)


def check_suite_name(name: str) -> None:
    """Check the name of a suite that a run would make. Raises ConfigError."""
    if not SUITE_NAME.fullmatch(name):
        raise ConfigError(
            "a suite's name has 1 to 64 letters, digits, dots, dashes or underscores and starts with a letter or digit"
        )


def plan_runs(site: Site, entries: Sequence[RunEntry], options: RunOptions) -> list[Plan]:
    """Plan every entry.

    Raises:
        ConfigError: an entry, deployment or option is wrong.
        BenchmarkError: a benchmark or its data is wrong; names the benchmark of every such entry.
    """
    check_suite_name(options.suite)
    _ = site.settings  # report a missing site before any fault in the entries
    catalogue = survey_benchmarks(site.own_benchmarks)
    servers = _read_servers(site, options)
    # Map deployments before checking the data, because entries without a mapped deployment are not run.
    if servers.mapping.entries:
        entries = map_deployments(entries, servers.mapping.entries, servers.deployments)
    if options.ignore_data_paths:
        entries = ignore_data_paths(entries)
    benchmarks = [resolve_benchmark(entry, *catalogue) for entry in entries]
    check_data_paths(entries)
    if not options.server:
        check_deployments(entries, servers.deployments)
    plans: list[Plan] = []
    faults: list[_Fault] = []
    for entry, benchmark in zip(entries, benchmarks, strict=True):
        try:
            plans.append(_plan_run(site, entry, benchmark, servers, options))
        except BenchmarkError as error:
            faults.append(_Fault(entry.benchmark, error))
    if faults:
        raise _join_faults(faults, has_plans=bool(plans))
    _refuse_equal_names(plans)
    return plans


@dataclass(frozen=True, slots=True)
class _Servers:
    """The model servers that a command may query.

    Attributes:
        deployments: the site's deployments by name; empty with --server, which names a single server.
        mapping: deployments of this site by the names used in entries and juries; empty without --deployment-map.
    """

    deployments: Mapping[str, Deployment]
    mapping: DeploymentMap


@dataclass(frozen=True, slots=True)
class _Fault:
    """An error in the benchmark or data of one run entry."""

    benchmark: str
    error: BenchmarkError


def _read_servers(site: Site, options: RunOptions) -> _Servers:
    if options.server and options.deployment_map:
        raise ConfigError(
            "--server and --deployment-map cannot be combined: the first sends every question to one server",
            "Remove one of the two options.",
        )
    if options.server:
        return _Servers({}, DeploymentMap())
    deployments = read_deployments(site.deployments)
    mapping = DeploymentMap()
    if options.deployment_map:
        mapping = read_deployment_map(options.deployment_map)
    return _Servers(deployments, mapping)


def _join_faults(faults: Sequence[_Fault], *, has_plans: bool) -> BenchmarkError:
    """Combine the errors of all entries that cannot be planned into one."""
    advice = faults[0].error.advice
    if has_plans:
        advice += " To run the other entries first, select them with --groups-to-run."
    if len(faults) == 1:
        return BenchmarkError(str(faults[0].error), advice)
    messages = []
    for fault in faults:
        text = str(fault.error).removeprefix(f"{fault.benchmark}: ")
        messages.append(f"{fault.benchmark}: {text}")
    return BenchmarkError("\n".join(dict.fromkeys(messages)), advice)


def _refuse_equal_names(plans: Sequence[Plan]) -> None:
    names = Counter(plan.name for plan in plans)
    repeated = sorted(name for name, count in names.items() if count > 1)
    if repeated:
        raise ConfigError(f"the same run is requested more than once: {', '.join(repeated)}")


def _plan_run(
    site: Site, entry: RunEntry, benchmark: Benchmark, servers: _Servers, options: RunOptions
) -> Plan:
    check_available(benchmark.id, select_measurable(benchmark.metrics, site.means), site.means)
    deployment = _choose_deployment(site, entry, servers, options)
    # An entry may name only the last part of the model; its run has the whole name.
    entry = replace(entry, model=deployment.model_name, expanders=_read_expanders(entry, options))
    change = read_overrides(entry)
    _check_answer_mode(entry, benchmark, change.answer_mode)
    parser = _choose_parser(benchmark, change)
    if parser == choose_parser(benchmark):
        # An entry that names the benchmark's own parser stands for the same run as one that does not.
        entry = replace(entry, expanders=_drop_parser_keys(entry.expanders))
    data = choose_data(site, benchmark, entry.arguments, unregistered=options.unregistered)
    dataset = data.dataset
    metrics = _choose_metrics(site, entry, benchmark, servers, options)
    limit = options.max_eval_instances
    if change.max_eval_instances is not None:
        limit = change.max_eval_instances
    row_numbers = RowNumbers()
    read_instances = partial(
        iter_instances,
        benchmark,
        dataset,
        instructions=change.instructions,
        examples=change.max_train_instances,
        row_numbers=row_numbers,
    )
    # The row numbers are noted while the data is read.
    instances = Instances(read_instances, limit, options.sample_seed)
    return Plan(
        name=write_run_name(entry, benchmark, dataset, deployment),
        suite=options.suite,
        benchmark=benchmark,
        dataset=dataset,
        model=entry.model,
        deployment=deployment,
        instances=instances,
        rules=_build_rules(site, benchmark, dataset, metrics, parser, options),
        max_tokens=compute_token_limit(entry, benchmark, reasoning=deployment.reasoning),
        temperature=0.0 if change.temperature is None else change.temperature,
        stop=change.stop,
        max_in_flight=options.max_in_flight
        or deployment.max_in_flight
        or site.settings.max_in_flight,
        arguments=dataset.arguments,
        prompt_limit=read_prompt_limit(benchmark, dataset.arguments),
        overrides=_list_overrides(entry, benchmark),
        named_data=bool(DATA_ARGUMENTS & entry.arguments.keys()),
        attested=data.attested,
        sampled=limit,
        sample_seed=options.sample_seed,
        promised_by=options.plan,
        row_numbers="file" if row_numbers.changed else None,
        jury=_seat_jury(metrics, site, servers, options),
        left_out=_list_left_out(site, benchmark),
        registered=data.commitment,
        frozen_digest=data.frozen_digest,
        data_note=data.note,
        answer_mode=change.answer_mode,
        private=options.private,
    )


def _close_question(answer_mode: AnswerMode, instance: Instance) -> ClosedQuestion:
    """Return the options of a question, with their texts if these are compared."""
    texts = tuple(reference.text for reference in instance.references)
    letters = tuple(LETTERS[: len(texts)])
    return ClosedQuestion(answer_mode, letters, texts if answer_mode in TEXT_MODES else ())


def _check_answer_mode(entry: RunEntry, benchmark: Benchmark, answer_mode: AnswerMode) -> None:
    """Refuse ways of asking that need options for a benchmark without them."""
    if answer_mode != "generate" and benchmark.choices is None:
        raise ConfigError(
            f"the run entry {entry.description!r}: answer_mode={answer_mode} needs options to choose from, but the"
            f" answers of {benchmark.id} are free text",
            "Use answer_mode=generate for this benchmark; of your own benchmark, define `choices`.",
        )


def _choose_parser(benchmark: Benchmark, change: Overrides) -> AnswerParser:
    if change.answer_mode != "generate":
        # A closed question's answer is the letter alone, without the form that the benchmark's own parser expects.
        return AnswerParser("option_letter")
    return choose_parser(benchmark, change.parser)


def _drop_parser_keys(expanders: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in expanders.items() if key not in PARSER_KEYS}


def _build_rules(
    site: Site,
    benchmark: Benchmark,
    dataset: Dataset,
    metrics: Sequence[MetricUse],
    parser: AnswerParser,
    options: RunOptions,
) -> Rules:
    rules = Rules.of(
        metrics,
        options.scoring or benchmark.scoring,
        parser,
        choose_lineage(benchmark, dataset.known),
    )
    return bind_metrics(rules, site.means)


def _list_overrides(entry: RunEntry, benchmark: Benchmark) -> tuple[str, ...]:
    expanders = tuple(key for key in entry.expanders if key not in _SILENT)
    return expanders + list_changed_arguments(benchmark, entry.arguments)


def _choose_deployment(
    site: Site, entry: RunEntry, servers: _Servers, options: RunOptions
) -> Deployment:
    if not options.server:
        return check_reachable(find_deployment(entry, servers.deployments), site)
    if entry.model_deployment:
        raise ConfigError(
            f"the run entry {entry.description!r} names a deployment, which cannot be combined with --server",
            "Remove one of the two.",
        )
    return check_reachable(make_server_deployment(options.server, entry.model), site)


def _choose_metrics(
    site: Site, entry: RunEntry, benchmark: Benchmark, servers: _Servers, options: RunOptions
) -> tuple[MetricUse, ...]:
    """Return the benchmark's metrics, with the judges for this run."""
    jury_file = None if options.ignore_data_paths else entry.arguments.get("jury_config_path")
    metrics = tuple(
        choose_jury(
            use,
            site,
            benchmark.id,
            override=options.judges,
            named=jury_file,
            required=not options.no_judging,
        )
        for use in select_measurable(benchmark.metrics, site.means)
    )
    if servers.mapping.judges and _find_judges(metrics):
        deployments = _read_judge_deployments(site, servers)
        metrics = tuple(map_jury(use, servers.mapping.judges, deployments) for use in metrics)
    return metrics


def _seat_jury(
    metrics: Sequence[MetricUse], site: Site, servers: _Servers, options: RunOptions
) -> tuple[SeatedJudge, ...]:
    judges = _find_judges(metrics)
    if not judges or options.no_judging:
        return ()
    deployments = _read_judge_deployments(site, servers)
    with advise_judging_later():
        jury = seat_judges(
            judges, site, deployments, options.max_in_flight, resting=options.judged_later
        )
    if any(seat.deployment.name in options.judged_later for seat in jury):
        return ()
    return jury


def _read_judge_deployments(site: Site, servers: _Servers) -> Mapping[str, Deployment]:
    # --server replaces the model's deployment only. Judges keep the site's deployments.
    return servers.deployments or read_deployments(site.deployments)


def _find_judges(metrics: Sequence[MetricUse]) -> Sequence[Judge]:
    return next((use.judges for use in metrics if use.judges), ())


def _list_left_out(site: Site, benchmark: Benchmark) -> tuple[str, ...]:
    measured = select_measurable(benchmark.metrics, site.means)
    return tuple(use.name for use in benchmark.metrics if use not in measured)


def _read_expanders(entry: RunEntry, options: RunOptions) -> Mapping[str, str]:
    """Return the entry's expanders. The number of examples and the way of asking default to the command line's.

    The usual way of asking is left out, so that a run that names it is the same as one that does not.
    """
    expanders: dict[str, str] = {}
    if options.max_train_instances is not None:
        expanders["max_train_instances"] = str(options.max_train_instances)
    if options.answer_mode is not None:
        expanders["answer_mode"] = options.answer_mode
    expanders |= entry.expanders
    if expanders.get("answer_mode") == "generate":
        del expanders["answer_mode"]
    return expanders


def check_reachable(deployment: Deployment, site: Site) -> Deployment:
    """Check that prompts may be sent to a deployment; return it with the site's CA bundle if it has none of its own.

    The site's proxy is for requests to the aggregator and is never used for prompts.

    Raises:
        ConfigError: prompts may not be sent to one of its hosts or through its proxy.
    """
    if deployment.managed is not None:
        return resolve_managed(deployment, site)  # on this machine
    addresses = [("host", url) for url in list_addresses(deployment)]
    if deployment.proxy:
        addresses.append(("proxy", deployment.proxy))
    for role, address in addresses:
        host = urlsplit(address).hostname or ""
        if host and host not in site.settings.allowed_hosts:
            raise ConfigError(
                f"{describe_deployment(deployment)}: prompts may not be sent to the {role} {host}",
                f"If the {role} is inside the hospital's network, add it to allowed_hosts in site.yaml.",
            )
    return replace(deployment, ca_bundle=deployment.ca_bundle or site.settings.ca_bundle)


def write_run_name(
    entry: RunEntry, benchmark: Benchmark, dataset: Dataset, deployment: Deployment
) -> str:
    """Return the run's name within its suite: the run entry in HELM's form, with digests in place of file names.

    The name includes everything in the entry that changes the questions, so two different runs never share a name.
    """
    pairs = {key: value for key, value in entry.arguments.items() if key not in FILE_ARGUMENTS}
    if DATA_ARGUMENTS & entry.arguments.keys():
        pairs["data"] = dataset.digest[:12]
    pairs["model"] = entry.model
    if deployment.name != entry.model:
        pairs["model_deployment"] = deployment.name
    pairs.update((key, value) for key, value in entry.expanders.items() if key not in _SILENT)
    if "answer_pattern" in pairs:
        # Names of runs are also names of folders.
        pairs["answer_pattern"] = hashlib.sha256(pairs["answer_pattern"].encode()).hexdigest()[:12]
    return f"{benchmark.id}:" + ",".join(f"{key}={value}" for key, value in pairs.items())
