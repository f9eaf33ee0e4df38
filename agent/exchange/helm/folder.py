"""Read and check HELM's run folders, both those written by helm-run and our own exports."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, cast

from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.juries import HelmJury, HelmSeat, read_juries, read_seats
from agent.exchange.helm.names import is_score, list_run_arguments, read_scenario_name
from agent.exchange.helm.own_record import OwnRecord, read_own_record
from agent.exchange.json_path import ADVICE, JsonNode, read_json
from agent.reading.finish_reasons import FinishReason, find_finish_reason
from agent.reading.thoughts import split_answer
from agent.vocabulary import Instance, Message, Reference, Response

FILES = ("run_spec.json", "scenario_state.json", "stats.json", "per_instance_stats.json")
_NOT_RUNS = frozenset({"eval_cache", "groups"})  # HELM's own folders next to the runs
_LATEST = "latest"  # HELM's link to the suite that ran last
_ROLES = ("system", "user", "assistant")
_EVALUATED = ("test", "valid")  # splits whose statistics are used, in order of preference
_TOKEN_COUNTS = ("num_prompt_tokens", "num_completion_tokens")


class _CaseKey(NamedTuple):
    """The key of one entry in a run. An instance has one entry per perturbation and train trial."""

    instance_id: str
    perturbation: str  # empty if there is none
    trial: int


@dataclass(slots=True)
class _CaseStats:
    """The scores and token counts of one instance. Scores are keyed by HELM's metric names."""

    scores: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HelmCase:
    """One instance of a HELM run, with the response, and the judges' seats and scores by HELM's metric names."""

    instance: Instance
    response: Response | None
    scores: Mapping[str, float]
    seats: Mapping[str, tuple[HelmSeat, ...]] = field(default_factory=dict)


# As in the description that `agent.exchange.helm.run_spec` writes.
_RULES = re.compile(r"\. Scored by (\w+) rules\. Written by ")


@dataclass(frozen=True, slots=True)
class HelmRun:
    """One HELM run.

    Attributes:
        names: possible names of its benchmark in the catalogue, the most likely one first.
        whole_run: metric values that exist only for the whole run, by HELM's names.
        max_tokens, temperature: None if HELM's files do not state them.
        stop: stop sequences.
        juries: the juries whose judges run_spec.json lists.
        pairs: arguments from the run's name and from HELM's scenario.
        digest: SHA-256 of the folder's files.
        record: the further details that our own export contains; None for a run that HELM wrote.
        is_scored_by_us: whether scenario.json states that Intramural's rules scored the run. It still does after
            `intramural redact helm`, which removes the record.
    """

    name: str
    names: tuple[str, ...]
    groups: tuple[str, ...]
    scenario: str
    model: str
    deployment: str
    max_tokens: int | None
    temperature: float | None
    stop: tuple[str, ...]
    cases: tuple[HelmCase, ...]
    whole_run: Mapping[str, float]
    juries: tuple[HelmJury, ...]
    pairs: Mapping[str, str]
    digest: str
    record: OwnRecord | None
    is_scored_by_us: bool


def find_run_folders(directory: Path) -> list[tuple[str, Path]]:
    """Find the run folders in a run folder, a suite's folder or HELM's output folder, as (suite name, folder).

    Raises:
        ConfigError: the directory contains no run folder.
        BenchmarkError: a run's folder is a link.
    """
    if os.path.lexists(directory / "run_spec.json"):
        return [(directory.absolute().parent.name, directory)]
    suites = [directory]
    if (directory / "runs").is_dir():
        suites = [path for path in _list_folders(directory / "runs") if path.name != _LATEST]
    run_folders = []
    for suite in suites:
        suite_name = suite.absolute().name
        for path in _list_folders(suite):
            if path.name not in _NOT_RUNS and os.path.lexists(path / "run_spec.json"):
                run_folders.append((suite_name, path))
    if not run_folders:
        raise ConfigError(
            f"the folder {directory.name} contains no HELM run (a folder with run_spec.json)",
            "Give a run's folder, a suite's folder (benchmark_output/runs/SUITE) or HELM's output folder.",
        )
    return run_folders


def _list_folders(directory: Path) -> Iterator[Path]:
    try:
        paths = sorted(directory.iterdir())
    except OSError as error:
        raise ConfigError(
            f"the folder {directory.name} cannot be read ({error.strerror})"
        ) from None
    for path in paths:
        is_link_of_helm = path.name == _LATEST and directory.name == "runs"
        if path.is_symlink() and not is_link_of_helm:
            raise BenchmarkError(f"{directory.name}: expected a run's folder, not a link", ADVICE)
        if path.is_dir() and not path.is_symlink():
            yield path


def read_run(folder: Path) -> HelmRun:
    """Read a HELM run from its folder.

    Raises:
        BenchmarkError: a file is missing or wrong; the message names the file and the key.
    """
    files = _read_files(folder)
    nodes, record = files.nodes, files.record
    spec = nodes["run_spec.json"]
    adapter = spec.at("adapter_spec")
    _refuse_separate_choices(adapter)
    case_stats = _read_case_stats(nodes["per_instance_stats.json"])
    juries = read_juries(spec)
    cases = _read_cases(nodes["scenario_state.json"], case_stats, juries)
    if record is not None:
        cases = [_set_unit(case, record.units) for case in cases]
    name = read_run_name(spec)
    groups = tuple(group.plain_name() for group in _iter_items(spec, "groups"))
    model = adapter.at("model").name()
    deployment = adapter.maybe("model_deployment")
    max_tokens = adapter.maybe("max_tokens")
    temperature = adapter.maybe("temperature")
    return HelmRun(
        name=name,
        names=(read_scenario_name(name), *reversed(groups)),
        groups=groups,
        scenario=spec.at("scenario_spec").at("class_name").class_name(),
        model=model,
        deployment=model if deployment is None else deployment.name(),
        max_tokens=None if max_tokens is None else max_tokens.whole(),
        temperature=None if temperature is None else temperature.number(),
        stop=tuple(sequence.text() for sequence in _iter_items(adapter, "stop_sequences")),
        cases=tuple(cases),
        whole_run=_read_whole_run(nodes["stats.json"], cases),
        juries=juries,
        pairs={**_read_scenario_args(spec), **dict(list_run_arguments(name))},
        digest=files.digest,
        record=record,
        is_scored_by_us=_read_rules(folder) == "intramural",
    )


def _read_rules(folder: Path) -> str:
    """Return the rules that our own scenario.json states; empty if there is no such file or it states none."""
    if not os.path.lexists(folder / "scenario.json"):
        return ""
    scenario, _ = read_json(folder, "scenario.json")
    description = scenario.maybe("description") if isinstance(scenario.value, dict) else None
    if description is None or not isinstance(description.value, str):
        return ""
    stated = _RULES.search(description.value)
    return stated[1] if stated else ""


@dataclass(frozen=True, slots=True)
class _RunFiles:
    """The parsed files of a run folder: HELM's by name, our own record if there is one, and a digest of all of them."""

    nodes: Mapping[str, JsonNode]
    record: OwnRecord | None
    digest: str


def _read_files(folder: Path) -> _RunFiles:
    digest = hashlib.sha256()
    nodes: dict[str, JsonNode] = {}
    for file_name in FILES:
        nodes[file_name], content = read_json(folder, file_name)
        digest.update(hashlib.sha256(content).digest())
    record = None
    own_record = read_own_record(folder)
    if own_record is not None:
        record, content = own_record
        digest.update(hashlib.sha256(content).digest())
    return _RunFiles(nodes, record, digest.hexdigest())


def _iter_items(node: JsonNode, key: str) -> Iterable[JsonNode]:
    """Return the elements of a list, or nothing if the list is missing."""
    items = node.maybe(key)
    return () if items is None else items.items()


def _refuse_separate_choices(adapter: JsonNode) -> None:
    """Refuse a run that sent one request per choice, because its instances have no single response."""
    method = adapter.maybe("method")
    if method is not None and method.text().startswith("multiple_choice_separate"):
        raise method.wrong("a method that sends one request per instance")


def _set_unit(case: HelmCase, units: Mapping[str, str]) -> HelmCase:
    unit = units.get(case.instance.id, case.instance.unit)
    return replace(case, instance=replace(case.instance, unit=unit))


def _read_scenario_args(spec: JsonNode) -> dict[str, str]:
    """Return the scenario's arguments that are strings."""
    args = spec.at("scenario_spec").maybe("args")
    if args is None:
        return {}
    return {key: node.value for key, node in args.pairs() if isinstance(node.value, str)}


def read_run_name(spec: JsonNode) -> str:
    """Return a run's name; refuse a name that could be a path."""
    node = spec.at("name")
    name = node.name()
    if "/" in name or "\\" in name or name in (".", ".."):
        raise node.wrong("a name without / and \\, as HELM writes it")
    return name


def _read_cases(
    state: JsonNode, case_stats: Mapping[_CaseKey, _CaseStats], juries: Sequence[HelmJury]
) -> list[HelmCase]:
    cases: dict[_CaseKey, HelmCase] = {}
    for request_state in state.at("request_states").items():
        instance = request_state.at("instance")
        key = _read_key(instance, request_state)
        if key in cases:
            raise instance.at("id").wrong("an id that is unique among the instances")
        stats = case_stats.get(key, _CaseStats())
        cases[key] = HelmCase(
            response=_read_response(request_state, stats.tokens),
            instance=_read_instance(request_state, key),
            scores=stats.scores,
            seats=read_seats(request_state, juries),
        )
    if not cases:
        raise state.at("request_states").wrong("at least one instance")
    strangers = case_stats.keys() - cases.keys()
    if strangers:
        raise BenchmarkError(
            f"{state.file}: {len(strangers)} instances of per_instance_stats.json are not among the request_states",
            ADVICE,
        )
    return list(cases.values())


def _read_key(instance: JsonNode, entry: JsonNode, id_key: str = "id") -> _CaseKey:
    perturbation = instance.maybe("perturbation")
    trial = entry.maybe("train_trial_index")
    return _CaseKey(
        instance_id=instance.at(id_key).name(),
        perturbation="" if perturbation is None else perturbation.at("name").name(),
        trial=0 if trial is None else trial.whole(),
    )


def _read_instance(request_state: JsonNode, key: _CaseKey) -> Instance:
    references = tuple(map(_read_reference, request_state.at("instance").at("references").items()))
    parts = [key.instance_id]
    if key.perturbation:
        parts.append(key.perturbation)
    if key.trial:
        parts.append(f"trial {key.trial}")
    return Instance(
        id=" ".join(parts),
        unit=key.instance_id,
        messages=_read_messages(request_state.at("request")),
        references=references,
        multiple_choice=_is_multiple_choice(request_state, references),
    )


def _read_reference(reference: JsonNode) -> Reference:
    return Reference(
        reference.at("output").at("text").text(),
        any(tag.text() == "correct" for tag in reference.at("tags").items()),
    )


def _read_messages(request: JsonNode) -> tuple[Message, ...]:
    if not request.has("messages"):
        return (Message("user", request.at("prompt").text()),)
    messages = []
    for message in request.at("messages").items():
        role = cast(Literal["system", "user", "assistant"], message.at("role").one_of(_ROLES))
        messages.append(Message(role, message.at("content").text()))
    return tuple(messages)


def _is_multiple_choice(request_state: JsonNode, references: tuple[Reference, ...]) -> bool:
    """Return whether the options are lettered A, B, C ... in the order of the references."""
    mapping = request_state.maybe("output_mapping")
    if mapping is None:
        return False
    options = {letter: option.text() for letter, option in mapping.pairs()}
    return options == {
        chr(ord("A") + position): reference.text for position, reference in enumerate(references)
    }


def _read_response(request_state: JsonNode, tokens: Mapping[str, int]) -> Response | None:
    """Return the first completion, or None if the request failed or returned no completion.

    Reasoning in its text is kept apart, as in runs. HELM's scores of it are imported as they are.
    """
    result = request_state.maybe("result")
    if result is None or not result.at("success").yes_no():
        return None
    completion = next(iter(result.at("completions").items()), None)
    if completion is None:
        return None
    finish = completion.maybe("finish_reason")
    finish_reason = None if finish is None else finish.maybe("reason")
    thinking = completion.maybe("thinking")
    thought = None if thinking is None else thinking.maybe("text")
    seconds = result.maybe("request_time")
    split = split_answer(completion.at("text").text())
    stated_thought = "" if thought is None else thought.text()
    return Response(
        text=split.answer,
        reasoning="\n".join(filter(None, (stated_thought, split.reasoning))),
        finish_reason="length" if split.is_cut_off else _read_finish_reason(finish_reason),
        prompt_tokens=tokens.get("num_prompt_tokens"),
        completion_tokens=tokens.get("num_completion_tokens"),
        seconds=0.0 if seconds is None else seconds.number(),
    )


def _read_finish_reason(node: JsonNode | None) -> FinishReason:
    reason = None if node is None else find_finish_reason(node.text())
    return reason or "other"


def _read_case_stats(per_instance: JsonNode) -> dict[_CaseKey, _CaseStats]:
    """Return each instance's scores and token counts. HELM may write one entry per instance and metric."""
    case_stats: dict[_CaseKey, _CaseStats] = {}
    for entry in per_instance.items():
        stats = case_stats.setdefault(_read_key(entry, entry, id_key="instance_id"), _CaseStats())
        for stat in entry.at("stats").items():
            _add_stat(stats, stat)
    return case_stats


def _add_stat(stats: _CaseStats, stat: JsonNode) -> None:
    name = stat.at("name").at("name")
    metric = name.name()
    mean = stat.maybe("mean")
    if mean is None or stat.at("count").number() == 0:
        return
    if metric in _TOKEN_COUNTS:
        stats.tokens[metric] = mean.count()
    elif is_score(metric):
        stats.scores[name.plain_name()] = mean.number()


def _read_whole_run(stats: JsonNode, cases: Sequence[HelmCase]) -> dict[str, float]:
    """Return the metric values that exist only for the whole run, without perturbations."""
    scored: set[str] = set()
    for case in cases:
        scored |= case.scores.keys()
    whole_run = {}
    for metric, means in _read_means(stats).items():
        split = next((split for split in _EVALUATED if split in means), None)
        if split is not None and metric not in scored:
            whole_run[metric] = means[split]
    return whole_run


def _read_means(stats: JsonNode) -> dict[str, dict[str, float]]:
    """Return the run's mean values by metric and split."""
    means: dict[str, dict[str, float]] = {}
    for stat in stats.items():
        name = stat.at("name")
        metric = name.at("name")
        mean = stat.maybe("mean")
        is_part = name.has("perturbation") or name.has("sub_split")
        if not is_score(metric.name()) or mean is None or is_part:
            continue
        split = name.at("split").name() if name.has("split") else _EVALUATED[0]
        means.setdefault(metric.plain_name(), {})[split] = mean.number()
    return means
