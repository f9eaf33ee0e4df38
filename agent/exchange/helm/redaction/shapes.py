"""HELM's data structures, field by field, and what becomes of each. A field that is not listed here is left out.

Written after the classes of crfm-helm 0.5 (scenario, request, annotations, statistics, tables). The texts of prompts,
inputs and references are never shown, as by MedHELM's own scripts; what models and judges wrote is shown redacted, or
not at all. Lists of tokens, times, log probabilities, embeddings, media, contrast sets and extra data are left out.
Of numbers only those of fields that are known to hold settings, counts and scores stay, and none that is too large to
be one; statistics have to fit together.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.names import is_private_setting, is_public_model
from agent.exchange.helm.redaction.vouched import numeric_settings
from agent.exchange.helm.redaction.walk import OMIT, REDACTED, Step, Walk

_SPLITS = ("train", "valid", "test")
_MODES = ("original", "calibration")
_COMPUTED_ON = ("original", "perturbed", "worst")
_FINISHED = ("stop", "length", "endoftext", "content_filter", "unknown", "tool_calls")
_LETTER = re.compile(r"[A-Za-z0-9]{1,2}")
_RELEVANCE = re.compile(r"(?:relevance|rank)=\d{1,3}")
_TIMES = re.compile(r"inference_.*|training_.*|.*runtime.*|batch_size|.*logprob.*|.*perplexity.*|bits_per_byte")
_GRADE = re.compile(r"(?:.*[^a-z])?(?:score|grade|rating|points?|label|rank)s?", re.IGNORECASE)
_HIGHEST_GRADE = 100
_HIGHEST_FIGURE = 999_999  # of a statistic: numbers of people and telephones have more digits
_HIGHEST_SETTING = 9_999
_MOST_OF_TEXT = 999_999  # tokens, characters, bytes
_MEASURES_TEXT = re.compile(r"(?:.*_)?(?:tokens|length|size|characters|bytes)")
_MOST_DECIMALS = 4  # significant digits of a setting that is a fraction
_CLOSE = 1e-6  # of figures that were computed from each other
_FIGURES = ("count", "sum", "sum_squared", "min", "max", "mean", "variance", "stddev")
_NEVER_SHOWN = frozenset({"prompt_text", "explanation"})  # texts of annotations that quote a case
_DEEPEST = 20  # levels of an annotation
_SOURCE = "https://github.com/stanford-crfm/helm/"


def fields(**steps: Step) -> Step:
    """A map of which every key is known; others are left out."""

    def walk(at: Walk, value: Any) -> Any:
        if not isinstance(value, dict):
            return _unknown(at, value)
        found: dict[str, Any] = {}
        for key, inner in value.items():
            new = steps[key](at, inner) if key in steps else _unknown(at, inner)
            if new is not OMIT:
                found[key] = new
        return found

    return walk


def each(step: Step) -> Step:
    """A list of things of one kind."""

    def walk(at: Walk, value: Any) -> Any:
        if not isinstance(value, list):
            return _unknown(at, value)
        return [new for inner in value if (new := step(at, inner)) is not OMIT]

    return walk


def named(step: Step, *, runs: bool = False) -> Step:
    """A map from names (of runs) to things of one kind."""

    def walk(at: Walk, value: Any) -> Any:
        if not isinstance(value, dict):
            return _unknown(at, value)
        found: dict[str, Any] = {}
        for key, inner in value.items():
            new = step(at, inner)
            if new is not OMIT:
                found[at.names.run(key) if runs else at.names.shown(key)] = new
        return found

    return walk


def one_of(*known: str) -> Step:
    """One of a few words."""

    def walk(at: Walk, value: Any) -> Any:
        return value if value is None or value in known else _unknown(at, value)

    return walk


def left_out(what: Kind) -> Step:
    """A field that HELM writes and that is never shown, counted as `what`."""

    def walk(at: Walk, value: Any) -> Any:
        if value not in (None, [], {}, ""):
            at.unshown(value, what)
        return OMIT

    return walk


def instead(replacement: Any, what: Kind) -> Step:
    """A field that is never shown and that HELM's tools want to be there."""

    def walk(at: Walk, value: Any) -> Any:
        if value != replacement:
            at.unshown(value, what)
        return replacement

    return walk


def up_to(most: int) -> Step:
    """A number that says nothing of a person: a count, a score, a setting. One that is larger is left out."""

    def walk(at: Walk, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if not _is_number(value):
            return _unknown(at, value)
        if abs(value) <= most:
            return value
        at.unshown(value, "numbers")
        return OMIT

    return walk


figure = up_to(_HIGHEST_FIGURE)
size = up_to(_MOST_OF_TEXT)


def setting(at: Walk, value: Any) -> Any:
    """A number that somebody chose: small, or a fraction of few digits."""
    if isinstance(value, float) and float(f"{value:.{_MOST_DECIMALS}g}") != value:
        at.unshown(value, "numbers")
        return OMIT
    return up_to(_HIGHEST_SETTING)(at, value)


def flag(at: Walk, value: Any) -> Any:
    """True or false."""
    return value if value is None or isinstance(value, bool) else _unknown(at, value)


def text(at: Walk, value: Any) -> Any:
    """A text of whoever set the benchmark up: redacted."""
    if value is None:
        return None
    return at.text(value) if isinstance(value, str) else _unknown(at, value)


def blank(at: Walk, value: Any) -> Any:
    """A text of a case that is not shown."""
    if value is None:
        return None
    if value != REDACTED:
        at.unshown(value, "texts of cases")
    return REDACTED


def output(at: Walk, value: Any) -> Any:
    """What a model wrote: redacted, or not shown if asked."""
    if value is None or value == "":
        return value
    if not isinstance(value, str) or at.options.blank_outputs:
        return blank(at, value)
    return at.text(value)


def name(at: Walk, value: Any) -> Any:
    """A name that HELM's tools look up."""
    if value is None:
        return None
    return at.names.shown(value) if isinstance(value, str) else _unknown(at, value)


def name_of_data(at: Walk, value: Any) -> Any:
    """A name that may come from a record: it stays if no person of the record is in it."""
    if value is None:
        return None
    return at.name(value) if isinstance(value, str) else _unknown(at, value)


def run_name(at: Walk, value: Any) -> Any:
    """The name of a run, with its settings."""
    return at.names.run(value) if isinstance(value, str) else _unknown(at, value)


def identity(at: Walk, value: Any) -> Any:
    """The id of an instance."""
    if value is None:
        return None
    return at.names.identity(value if isinstance(value, str) else repr(value))


def settings(at: Walk, value: Any, key: str = "", depth: int = 0) -> Any:
    """Arguments of a class that a site names: plain names, numbers of HELM's settings, no places on a disk, no text.

    Any other number may be of a record: {"hadm_id": 20000147}.
    """
    if isinstance(value, dict) and depth < _DEEPEST:
        found: dict[str, Any] = {}
        for inner_key, inner in value.items():
            if is_private_setting(inner_key):
                at.unshown(inner, "settings")
            elif (new := settings(at, inner, inner_key, depth + 1)) is not OMIT:
                found[at.names.shown(inner_key)] = new
        return found
    if isinstance(value, list) and depth < _DEEPEST:
        return [new for inner in value if (new := settings(at, inner, key, depth + 1)) is not OMIT]
    if isinstance(value, str):
        return at.names.shown(value)
    if not _is_number(value):
        return flag(at, value)
    if key in numeric_settings():
        return size(at, value) if _MEASURES_TEXT.fullmatch(key) else setting(at, value)
    at.unshown(value, "numbers")
    return OMIT


def annotation(at: Walk, value: Any, key: str = "", depth: int = 0) -> Any:
    """What judges and other annotators said, in any form."""
    if isinstance(value, dict) and depth < _DEEPEST:
        return {at.name(inner): annotation(at, value[inner], inner, depth + 1) for inner in value}
    if isinstance(value, list) and depth < _DEEPEST:
        return [annotation(at, inner, key, depth + 1) for inner in value]
    if isinstance(value, str):
        return blank(at, value) if at.options.blank_annotations or key in _NEVER_SHOWN else at.text(value)
    if value is None or isinstance(value, bool):
        return value
    if _is_number(value) and abs(value) <= _HIGHEST_GRADE and _GRADE.fullmatch(key) and not is_private_setting(key):
        return value  # any other number may be of a record: a row of a database, a year
    at.unshown(value, "numbers of annotations")
    return REDACTED


def annotations(at: Walk, value: Any) -> Any:
    """Annotations of one answer, by annotator."""
    if value is None:
        return None
    return annotation(at, value) if isinstance(value, dict) else _unknown(at, value)


def with_instance(step: Step, *path: str) -> Step:
    """What belongs to the instance whose id stands at `path`: its texts go together."""

    def walk(at: Walk, value: Any) -> Any:
        found = value
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        with at.instance(found):
            return step(at, value)

    return walk


def _is_number(value: Any) -> bool:
    """Whether this is a number; true and false are none."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _unknown(at: Walk, value: Any) -> Any:
    at.unshown(value, "unknown fields")
    return OMIT


def _tag(at: Walk, value: Any) -> Any:
    if value == "correct" or (isinstance(value, str) and _RELEVANCE.fullmatch(value)):
        return value
    at.unshown(value, "tags of references")
    return OMIT


def _letters(at: Walk, value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, dict):
        return _unknown(at, value)
    found: dict[str, Any] = {}
    for letter, inner in value.items():
        if _LETTER.fullmatch(letter):
            found[letter] = blank(at, inner)
        else:
            at.unshown([letter, inner], "unknown fields")
    return found


def _source(at: Walk, value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_SOURCE) and " " not in value and len(value) <= 200:
        return value
    if value != "":
        at.unshown(value, "settings")
    return ""


def _run_path(at: Walk, value: Any) -> Any:
    """Where a run's folder was on the disk: its name, and nothing of where."""
    return at.names.run(value.rstrip("/").rpartition("/")[2]) if isinstance(value, str) else _unknown(at, value)


def _without_times(step: Step) -> Step:
    """A list of statistics, without those that say how long something took."""

    def walk(at: Walk, value: Any) -> Any:
        if isinstance(value, list):
            kept = [stat for stat in value if not _is_time(stat)]
            at.counts["statistics of times"] += len(value) - len(kept)
            value = kept
        return step(at, value)

    return walk


def _is_time(stat: Any) -> bool:
    try:
        return _TIMES.fullmatch(stat["name"]["name"]) is not None
    except (KeyError, TypeError):
        return False


def _figures(at: Walk, value: Any) -> Any:
    if not isinstance(value, dict):
        return _unknown(at, value)
    kept = {key: inner for key, inner in value.items() if not _TIMES.fullmatch(key)}
    at.counts["statistics of times"] += len(value) - len(kept)
    return named(figure)(at, kept)


def _stat(at: Walk, value: Any) -> Any:
    """A statistic: its figures stay if they follow from each other, as HELM computes them."""
    if isinstance(value, dict) and not _fits_together({key: value[key] for key in _FIGURES if key in value}):
        kept = {key: inner for key, inner in value.items() if key not in _FIGURES}
        at.unshown({key: value[key] for key in _FIGURES if key in value}, "numbers")
        return _STAT(at, kept)
    return _STAT(at, value)


def _fits_together(stat: Mapping[str, Any]) -> bool:
    if not all(inner is None or _is_number(inner) for inner in stat.values()):
        return False
    count, total, squares = (stat.get(key) or 0 for key in ("count", "sum", "sum_squared"))
    if not isinstance(count, int) or not 0 <= count <= _HIGHEST_FIGURE:
        return False
    if count == 0:
        return not any(stat.values())
    if max(abs(total), abs(squares)) > _HIGHEST_FIGURE**3:
        return False
    real_mean = total / count
    real_variance = squares / count - real_mean**2
    least, most, mean = (real_mean if stat.get(key) is None else stat[key] for key in ("min", "max", "mean"))
    if max(abs(real_mean), abs(least), abs(most)) > _HIGHEST_FIGURE:
        return False
    variance = max(real_variance, 0.0) if stat.get("variance") is None else stat["variance"]
    deviation = max(variance, 0.0) ** 0.5 if stat.get("stddev") is None else stat["stddev"]
    slack = _CLOSE * max(1.0, abs(real_mean))
    square_slack = slack * max(1.0, abs(real_mean), abs(least), abs(most))
    return bool(
        least - slack <= real_mean <= most + slack
        and abs(mean - real_mean) <= slack
        and -square_slack <= real_variance <= (most - least) ** 2 / 4 + square_slack
        and abs(variance - max(real_variance, 0.0)) <= square_slack
        and abs(deviation) <= _HIGHEST_FIGURE
        and abs(deviation**2 - variance) <= square_slack
    )


def _cell_value(at: Walk, value: Any) -> Any:
    return text(at, value) if isinstance(value, str) else figure(at, value)


def _title(at: Walk, value: Any) -> Any:
    """A title in a table or a schema: a model that everybody knows, or a text."""
    return value if isinstance(value, str) and is_public_model(value) else _cell_value(at, value)


def _schema(at: Walk, value: Any, key: str = "", depth: int = 0) -> Any:
    """A schema says what benchmarks and metrics are called and mean."""
    if isinstance(value, dict) and depth < _DEEPEST:
        return {at.names.shown(inner): _schema(at, value[inner], inner, depth + 1) for inner in value}
    if isinstance(value, list) and depth < _DEEPEST:
        return [_schema(at, inner, key, depth + 1) for inner in value]
    if isinstance(value, str) and key in ("name", "subgroups", "metric_groups", "main_name", "main_split", "split"):
        return value if re.fullmatch(r"\$\{\w{1,40}\}", value) else at.names.shown(value)
    new = _title(at, value)
    return None if new is OMIT else new


_PERTURBATION = fields(
    name=name, robustness=flag, fairness=flag, computed_on=one_of(*_COMPUTED_ON), seed=setting,
    prob=setting, num_spaces=setting,
)  # fmt: skip
_OBJECT = fields(class_name=name, args=settings)
_ANNOTATOR = fields(class_name=name, args=instead({}, "settings"))  # they hold templates of judges
_INPUT = fields(text=blank, multimedia_content=left_out("media"), messages=left_out("texts of cases"))
_OUTPUT = fields(text=blank, multimedia_content=left_out("media"))
_REFERENCE = fields(output=_OUTPUT, tags=each(_tag))
_INSTANCE = fields(
    input=_INPUT,
    references=each(_REFERENCE),
    split=one_of(*_SPLITS),
    sub_split=name_of_data,
    id=identity,
    perturbation=_PERTURBATION,
    contrast_inputs=left_out("contrast sets"),
    contrast_references=left_out("contrast sets"),
    extra_data=left_out("extra data"),
)
_REQUEST = fields(
    model_deployment=name,
    model=name,
    embedding=flag,
    prompt=blank,
    temperature=setting,
    num_completions=setting,
    top_k_per_token=setting,
    max_tokens=size,
    stop_sequences=each(text),
    echo_prompt=flag,
    top_p=setting,
    presence_penalty=setting,
    frequency_penalty=setting,
    random=name,
    messages=left_out("texts of cases"),
    multimodal_prompt=left_out("media"),
    image_generation_parameters=left_out("settings"),
    response_format=left_out("settings"),
)
_COMPLETION = fields(
    text=output,
    logprob=instead(0, "log probabilities"),
    tokens=instead([], "lists of tokens"),
    finish_reason=fields(reason=one_of(*_FINISHED)),
    multimodal_content=left_out("media"),
    thinking=fields(text=output),
)
_RESULT = fields(
    success=flag,
    embedding=instead([], "embeddings"),
    completions=each(_COMPLETION),
    cached=flag,
    request_time=left_out("times"),
    request_datetime=left_out("times"),
    error=blank,
    error_flags=fields(is_retriable=flag, is_fatal=flag),
    batch_size=left_out("times"),
    batch_request_time=left_out("times"),
)
_ADAPTER = fields(
    **dict.fromkeys(
        (
            "global_prefix", "global_suffix", "instructions", "input_prefix", "input_suffix", "reference_prefix",
            "reference_suffix", "chain_of_thought_prefix", "chain_of_thought_suffix", "output_prefix", "output_suffix",
            "instance_prefix", "output_mapping_pattern",
        ),
        text,
    ),
    **dict.fromkeys(
        (
            "max_train_instances", "num_outputs", "num_train_trials", "num_trials", "temperature",
        ),
        setting,
    ),
    max_eval_instances=figure,
    max_tokens=size,
    sample_train=flag,
    multi_label=flag,
    method=name,
    model=name,
    model_deployment=name,
    random=name,
    eval_splits=each(one_of(*_SPLITS)),
    reference_prefix_characters=each(text),
    stop_sequences=each(text),
    substitutions=each(fields(source=text, target=text)),
    reeval_parameters=fields(model_ability=setting),
    image_generation_parameters=left_out("settings"),
)  # fmt: skip
_REQUEST_STATE = with_instance(
    fields(
        instance=_INSTANCE,
        reference_index=setting,
        request_mode=one_of(*_MODES),
        train_trial_index=setting,
        output_mapping=_letters,
        request=_REQUEST,
        result=_RESULT,
        num_train_instances=setting,
        prompt_truncated=flag,
        num_conditioning_tokens=size,
        annotations=annotations,
    ),
    "instance",
    "id",
)
_STAT = fields(
    name=fields(name=name, split=one_of(*_SPLITS), sub_split=name_of_data, perturbation=_PERTURBATION),
    **dict.fromkeys(_FIGURES, up_to(_HIGHEST_FIGURE**3)),  # sums of squares; how far each may go says _fits_together
)
_STATS = _without_times(each(_stat))
_RUN_SPEC = fields(
    name=run_name,
    scenario_spec=_OBJECT,
    adapter_spec=_ADAPTER,
    metric_specs=each(_OBJECT),
    data_augmenter_spec=fields(
        perturbation_specs=each(_OBJECT),
        **dict.fromkeys(
            (
                "should_augment_train_instances", "should_include_original_train", "should_skip_unchanged_train",
                "should_augment_eval_instances", "should_include_original_eval", "should_skip_unchanged_eval",
            ),
            flag,
        ),
        seeds_per_instance=setting,
    ),
    groups=each(name),
    annotators=each(_ANNOTATOR),
)  # fmt: skip
_KEY_OF_ANSWER = {"instance_id": identity, "perturbation": _PERTURBATION, "train_trial_index": setting}
_CELL = fields(
    value=_title,
    display_value=_title,
    description=text,
    lower_is_better=flag,
    markdown=flag,
    metadata=settings,
    run_spec_names=each(run_name),
    style=left_out("settings"),
    href=left_out("links"),
)
_TABLE = fields(
    title=_title,
    name=text,
    description=text,
    header=each(_CELL),
    rows=each(each(_CELL)),
    links=instead([], "links"),
)

# The files of a run. What is written about answers is read first, so that its texts are of the same instances.
OF_A_RUN: Final[Mapping[str, Step]] = {
    "run_spec.json": _RUN_SPEC,
    "scenario.json": fields(
        name=name, description=text, tags=each(text), definition_path=_source, url=left_out("settings")
    ),
    "scenario_state.json": fields(
        adapter_spec=_ADAPTER, request_states=each(_REQUEST_STATE), annotator_specs=each(_ANNOTATOR)
    ),
    "instances.json": each(with_instance(_INSTANCE, "id")),
    "display_predictions.json": each(
        with_instance(
            fields(
                **_KEY_OF_ANSWER,
                predicted_text=output,
                truncated_predicted_text=output,
                base64_images=instead([], "media"),
                mapped_output=blank,
                reference_index=setting,
                stats=_figures,
                annotations=annotations,
                thinking_text=output,
            ),
            "instance_id",
        )
    ),
    "display_requests.json": each(with_instance(fields(**_KEY_OF_ANSWER, request=_REQUEST), "instance_id")),
    "per_instance_stats.json": each(with_instance(fields(**_KEY_OF_ANSWER, stats=_STATS), "instance_id")),
    "stats.json": _STATS,
}

# The files of a suite, which helm-summarize writes.
OF_A_SUITE: Final[Mapping[str, Step]] = {
    "schema.json": _schema,
    "summary.json": fields(release=name, suites=each(name), suite=name, date=left_out("times")),
    "costs.json": named(_figures),
    "runs.json": each(fields(run_path=_run_path, run_spec=_RUN_SPEC, stats=_STATS)),
    "run_specs.json": each(_RUN_SPEC),
    "runs_to_run_suites.json": named(name, runs=True),
    "groups.json": each(_TABLE),
    "groups_metadata.json": named(
        fields(display_name=_title, short_display_name=_title, description=text, taxonomy=settings)
    ),
}
TABLES: Final[Mapping[str, Step]] = {"groups": each(_TABLE), "groups/json": _TABLE}  # files of any name there
