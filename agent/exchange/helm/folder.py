"""HELM's run folders, read and checked: what helm-run wrote, or our own export."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.juries import HelmJury, HelmSeat, juries_of, seats_of
from agent.exchange.helm.names import is_score, name_of_run_spec, pairs_of_run_spec
from agent.exchange.helm.own_record import OwnRecord, read_own_record
from agent.exchange.json_path import ADVICE, JsonNode, read_json
from agent.vocabulary import Instance, Message, Reference, Response

FILES = ("run_spec.json", "scenario_state.json", "stats.json", "per_instance_stats.json")
_NOT_RUNS = frozenset({"eval_cache", "groups"})  # HELM's own folders beside the runs
_ROLES = ("system", "user", "assistant")
_EVALUATED = ("test", "valid")  # splits whose figures count, the first that is there
_FINISH: Mapping[str, Literal["stop", "length", "content_filter"]] = {
    "stop": "stop",
    "endoftext": "stop",
    "length": "length",
    "content_filter": "content_filter",
}
_Key = tuple[str, str, int]  # instance id, perturbation, train trial


@dataclass(frozen=True, slots=True)
class HelmCase:
    """One instance of a HELM run: what was asked, answered and judged, and HELM's scores by HELM's names."""

    instance: Instance
    response: Response | None
    scores: Mapping[str, float]
    seats: Mapping[str, tuple[HelmSeat, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HelmRun:
    """One HELM run.

    Attributes:
        names: what its benchmark may be called here, the likeliest first.
        whole_run: figures that no single instance has, by HELM's names.
        max_tokens, temperature: None where HELM's files do not say.
        stop: stop sequences.
        juries: those whose judges are named.
        pairs: keys and values of its name and of HELM's scenario.
        digest: SHA-256 of the folder's files.
        record: what our own export said more.
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


def run_folders(directory: Path) -> list[tuple[str, Path]]:
    """Find run folders in a run folder, a suite's folder or HELM's output folder: (suite's name, folder).

    Raises:
        ConfigError: there are none.
        BenchmarkError: a link where a folder is expected.
    """
    if (directory / "run_spec.json").exists() or (directory / "run_spec.json").is_symlink():
        return [(directory.absolute().parent.name, directory)]
    if (directory / "runs").is_dir():
        suites = [path for path in _folders(directory / "runs") if path.name != "latest"]
    else:
        suites = [directory]
    found = [
        (suite.absolute().name, path)
        for suite in suites
        for path in _folders(suite)
        if path.name not in _NOT_RUNS and os.path.lexists(path / "run_spec.json")
    ]
    if not found:
        raise ConfigError(
            f"the folder {directory.name} holds no HELM run (a folder with run_spec.json)",
            "Name a run's folder, a suite's (benchmark_output/runs/SUITE) or HELM's output folder.",
        )
    return found


def _folders(directory: Path) -> Iterator[Path]:
    try:
        paths = sorted(directory.iterdir())
    except OSError as error:
        raise ConfigError(f"the folder {directory.name} cannot be read ({error.strerror})") from None
    for path in paths:
        if path.is_symlink() and not (path.name == "latest" and directory.name == "runs"):
            raise BenchmarkError(f"{directory.name}: a link where a run's folder is expected", ADVICE)
        if path.is_dir() and not path.is_symlink():
            yield path


def read_run(folder: Path) -> HelmRun:
    """Read one run folder whole.

    Raises:
        BenchmarkError: a file is missing or wrong; names it and the place.
    """
    digest = hashlib.sha256()
    places = []
    for name in FILES:
        place, content = read_json(folder, name)
        digest.update(hashlib.sha256(content).digest())
        places.append(place)
    own = read_own_record(folder)
    record = None
    if own is not None:
        record, content = own
        digest.update(hashlib.sha256(content).digest())
    spec, state, stats, per_instance = places
    adapter = spec.at("adapter_spec")
    method = adapter.at("method").text() if adapter.has("method") else "generation"
    if method.startswith("multiple_choice_separate"):
        raise adapter.at("method").wrong("a method that asks once an instance")
    scores, tokens = _scores(per_instance)
    juries = juries_of(spec)
    cases = _cases(state, scores, tokens, juries)
    if record is not None:
        cases = [_with_unit(case, record.units) for case in cases]
    name = run_spec_name(spec)
    groups = tuple(group.plain_name() for group in spec.at("groups").items()) if spec.has("groups") else ()
    scored = {metric for case in cases for metric in case.scores}
    model = adapter.at("model").name()
    return HelmRun(
        name=name,
        names=(name_of_run_spec(name), *reversed(groups)),
        groups=groups,
        scenario=spec.at("scenario_spec").at("class_name").class_name(),
        model=model,
        deployment=deployment.name() if (deployment := adapter.maybe("model_deployment")) else model,
        max_tokens=limit.whole() if (limit := adapter.maybe("max_tokens")) else None,
        temperature=temperature.number() if (temperature := adapter.maybe("temperature")) else None,
        stop=tuple(stop.text() for stop in adapter.at("stop_sequences").items())
        if adapter.has("stop_sequences")
        else (),
        cases=tuple(cases),
        whole_run={metric: value for metric, value in _figures(stats).items() if metric not in scored},
        juries=juries,
        pairs={**_scenario_args(spec), **dict(pairs_of_run_spec(name))},
        digest=digest.hexdigest(),
        record=record,
    )


def _with_unit(case: HelmCase, units: Mapping[str, str]) -> HelmCase:
    return replace(case, instance=replace(case.instance, unit=units.get(case.instance.id, case.instance.unit)))


def _scenario_args(spec: JsonNode) -> dict[str, str]:
    args = spec.at("scenario_spec").maybe("args")
    return {key: value.value for key, value in (args.pairs() if args else ()) if isinstance(value.value, str)}


def run_spec_name(spec: JsonNode) -> str:
    """Return a run's name, which never is a path."""
    place = spec.at("name")
    name = place.name()
    if "/" in name or "\\" in name or name in (".", ".."):
        raise place.wrong("a name without / and \\, as HELM writes it")
    return name


def _cases(
    state: JsonNode,
    scores: Mapping[_Key, Mapping[str, float]],
    tokens: Mapping[_Key, Mapping[str, int]],
    juries: Sequence[HelmJury],
) -> list[HelmCase]:
    found: dict[_Key, HelmCase] = {}
    for place in state.at("request_states").items():
        key = _key(place.at("instance"), place)
        if key in found:
            raise place.at("instance").at("id").wrong("an id that no other instance has")
        response = _response(place, tokens.get(key, {}))
        found[key] = HelmCase(_instance(place, key), response, scores.get(key, {}), seats_of(place, juries))
    if not found:
        raise state.at("request_states").wrong("at least one instance")
    if unknown := [key for key in scores if key not in found]:
        raise BenchmarkError(
            f"{state.file}: {len(unknown)} instances of per_instance_stats.json are not among the request_states",
            ADVICE,
        )
    return list(found.values())


def _key(instance: JsonNode, of: JsonNode, identity: str = "id") -> _Key:
    perturbation = instance.maybe("perturbation")
    trial = of.maybe("train_trial_index")
    return (
        instance.at(identity).name(),
        "" if perturbation is None else perturbation.at("name").name(),
        0 if trial is None else trial.whole(),
    )


def _instance(place: JsonNode, key: _Key) -> Instance:
    instance, (identity, perturbation, trial) = place.at("instance"), key
    references = tuple(
        Reference(
            reference.at("output").at("text").text(),
            any(tag.text() == "correct" for tag in reference.at("tags").items()),
        )
        for reference in instance.at("references").items()
    )
    apart = [part for part in (perturbation, f"trial {trial}" if trial else "") if part]
    return Instance(
        id=" ".join([identity, *apart]),
        unit=identity,
        messages=_messages(place.at("request")),
        references=references,
        multiple_choice=_is_multiple_choice(place, references),
    )


def _messages(request: JsonNode) -> tuple[Message, ...]:
    if not request.has("messages"):
        return (Message("user", request.at("prompt").text()),)
    found = []
    for message in request.at("messages").items():
        role = message.at("role")
        if role.text() not in _ROLES:
            raise role.wrong(" or ".join(_ROLES))
        found.append(Message(cast(Literal["system", "user", "assistant"], role.text()), message.at("content").text()))
    return tuple(found)


def _is_multiple_choice(place: JsonNode, references: tuple[Reference, ...]) -> bool:
    """Whether the options are lettered A, B, C ... in the order of the references."""
    mapping = place.maybe("output_mapping")
    if mapping is None:
        return False
    lettered = {letter: text.text() for letter, text in mapping.pairs()}
    return lettered == {chr(ord("A") + at): reference.text for at, reference in enumerate(references)}


def _response(place: JsonNode, tokens: Mapping[str, int]) -> Response | None:
    result = place.maybe("result")
    if result is None or not result.at("success").yes_no():
        return None
    completion = next(iter(result.at("completions").items()), None)
    if completion is None:
        return None
    finish = completion.maybe("finish_reason")
    reason = finish.maybe("reason") if finish is not None else None
    thinking = completion.maybe("thinking")
    thought = thinking.maybe("text") if thinking is not None else None
    seconds = result.maybe("request_time")
    return Response(
        text=completion.at("text").text(),
        reasoning="" if thought is None else thought.text(),
        finish_reason=_FINISH.get("" if reason is None else reason.text(), "other"),
        prompt_tokens=tokens.get("num_prompt_tokens"),
        completion_tokens=tokens.get("num_completion_tokens"),
        seconds=0.0 if seconds is None else seconds.number(),
    )


def _scores(per_instance: JsonNode) -> tuple[dict[_Key, dict[str, float]], dict[_Key, dict[str, int]]]:
    """Return each instance's scores and token counts. HELM may write several entries an instance, one a metric."""
    scores: dict[_Key, dict[str, float]] = {}
    tokens: dict[_Key, dict[str, int]] = {}
    for entry in per_instance.items():
        key = _key(entry, entry, identity="instance_id")
        own, counted = scores.setdefault(key, {}), tokens.setdefault(key, {})
        for stat in entry.at("stats").items():
            name, mean = stat.at("name").at("name").name(), stat.maybe("mean")
            if mean is None or stat.at("count").number() == 0:
                continue
            if name in ("num_prompt_tokens", "num_completion_tokens"):
                counted[name] = mean.count()
            elif is_score(name):
                own[stat.at("name").at("name").plain_name()] = mean.number()
    return scores, tokens


def _figures(stats: JsonNode) -> dict[str, float]:
    """Return the means of the whole run, as they are without perturbations."""
    found: dict[str, dict[str, float]] = {}
    for stat in stats.items():
        name = stat.at("name")
        metric, mean = name.at("name").name(), stat.maybe("mean")
        plain = not name.has("perturbation") and not name.has("sub_split")
        if mean is not None and plain and is_score(metric):
            split = name.at("split").name() if name.has("split") else _EVALUATED[0]
            found.setdefault(name.at("name").plain_name(), {})[split] = mean.number()
    return {
        metric: next(of[split] for split in _EVALUATED if split in of)
        for metric, of in found.items()
        if any(split in of for split in _EVALUATED)
    }
