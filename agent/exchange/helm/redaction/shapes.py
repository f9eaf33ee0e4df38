"""HELM's data structures, field by field, and how each field is redacted. Fields not listed here are left out.

Based on the classes of crfm-helm 0.5 (scenario, request, annotations, statistics, tables). As in MedHELM's own scripts,
the texts of prompts, inputs and references are never shown. The texts of models and judges are shown redacted, or not
at all. Lists of tokens, times, log probabilities, embeddings, media, contrast sets and extra data are left out.
Numbers are kept only in fields known to contain settings, counts and scores, and only up to a limit.
A statistic is kept only if its count, sum, mean and other values could come from one list of numbers.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from agent.exchange.helm.redaction.figures import FIGURES, HIGHEST_SUM, are_consistent
from agent.exchange.helm.redaction.names import is_public_model
from agent.exchange.helm.redaction.steps import (
    DEEPEST,
    blank_text,
    hash_id,
    keep_figure,
    keep_flag,
    keep_one_of,
    keep_setting,
    keep_size,
    keep_up_to,
    leave_out,
    omit_unknown,
    put_instead,
    redact_annotations,
    redact_output,
    redact_text,
    show_name,
    show_name_of_data,
    show_run_name,
    show_settings,
    take_each,
    take_fields,
    take_instance,
    take_named,
    take_named_runs,
)
from agent.exchange.helm.redaction.walk import OMIT, Step, Walk

_SPLITS = ("train", "valid", "test")
_MODES = ("original", "calibration")
_COMPUTED_ON = ("original", "perturbed", "worst")
_FINISHED = ("stop", "length", "endoftext", "content_filter", "unknown", "tool_calls")
_LETTER = re.compile(r"[A-Za-z0-9]{1,2}")
_RELEVANCE = re.compile(r"(?:relevance|rank)=\d{1,3}")
_TIMES = re.compile(
    r"inference_.*|training_.*|.*runtime.*|batch_size|.*logprob.*|.*perplexity.*|bits_per_byte"
)
_SOURCE = "https://github.com/stanford-crfm/helm/"
_MAX_SOURCE_LENGTH = 200  # characters
_NAMES_IN_SCHEMAS = ("name", "subgroups", "metric_groups", "main_name", "main_split", "split")
_VARIABLE = re.compile(
    r"\$\{\w{1,40}\}"
)  # a schema's placeholder that HELM fills in, such as ${main_split}


def _keep_tag(walk: Walk, value: Any) -> Any:
    """Keep a reference's tag if it is one of HELM's own: `correct` or a relevance grade."""
    if value == "correct":
        return value
    if isinstance(value, str) and _RELEVANCE.fullmatch(value):
        return value
    walk.hide(value, "tags of references")
    return OMIT


def _blank_letters(walk: Walk, value: Any) -> Any:
    """Blank the options of a question but keep their letters."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return omit_unknown(walk, value)
    options: dict[str, Any] = {}
    for letter, option in value.items():
        if _LETTER.fullmatch(letter):
            options[letter] = blank_text(walk, option)
        else:
            walk.hide([letter, option], "unknown fields")
    return options


def _keep_source(walk: Walk, value: Any) -> Any:
    """Keep the address of a scenario's source code if it is in HELM's own repository."""
    is_text = isinstance(value, str) and " " not in value and len(value) <= _MAX_SOURCE_LENGTH
    if is_text and value.startswith(_SOURCE):
        return value
    if value != "":
        walk.hide(value, "settings")
    return ""


def _show_run_path(walk: Walk, value: Any) -> Any:
    """Show the name of a run's folder, without the path to it."""
    if not isinstance(value, str):
        return omit_unknown(walk, value)
    folder_name = value.rstrip("/").rpartition("/")[2]
    return walk.names.show_run(folder_name)


def _drop_times(step: Step) -> Step:
    """Return a step for a list of statistics that leaves out durations."""

    def step_without_times(walk: Walk, value: Any) -> Any:
        if not isinstance(value, list):
            return step(walk, value)
        stats = [stat for stat in value if not _is_time(stat)]
        walk.counts["statistics of times"] += len(value) - len(stats)
        return step(walk, stats)

    return step_without_times


def _is_time(stat: Any) -> bool:
    try:
        return _TIMES.fullmatch(stat["name"]["name"]) is not None
    except (KeyError, TypeError):
        return False


def _take_figures(walk: Walk, value: Any) -> Any:
    """Keep a map from metrics to values, without durations."""
    if not isinstance(value, dict):
        return omit_unknown(walk, value)
    figures = {metric: figure for metric, figure in value.items() if not _TIMES.fullmatch(metric)}
    walk.counts["statistics of times"] += len(value) - len(figures)
    return _NAMED_FIGURES(walk, figures)


def _take_stat(walk: Walk, value: Any) -> Any:
    """Keep a statistic's values if all of them could come from one list of numbers."""
    if not isinstance(value, dict):
        return _STAT(walk, value)
    figures = {key: value[key] for key in FIGURES if key in value}
    if are_consistent(figures):
        return _STAT(walk, value)
    without_figures = {key: inner for key, inner in value.items() if key not in FIGURES}
    walk.hide(figures, "numbers")
    return _STAT(walk, without_figures)


def _show_title(walk: Walk, value: Any) -> Any:
    """Redact a title in a table or schema, except for numbers and names of public models."""
    if not isinstance(value, str):
        return keep_figure(walk, value)
    if is_public_model(value):
        return value
    return redact_text(walk, value)


def _show_schema(walk: Walk, value: Any, key: str = "", depth: int = 0) -> Any:
    """Show a schema, which contains the names and descriptions of benchmarks and metrics."""
    if isinstance(value, dict) and depth < DEEPEST:
        return {
            walk.names.show(inner): _show_schema(walk, value[inner], inner, depth + 1)
            for inner in value
        }
    if isinstance(value, list) and depth < DEEPEST:
        return [_show_schema(walk, inner, key, depth + 1) for inner in value]
    if isinstance(value, str) and key in _NAMES_IN_SCHEMAS:
        if _VARIABLE.fullmatch(value):
            return value
        return walk.names.show(value)
    new = _show_title(walk, value)
    return None if new is OMIT else new


_NAMED_FIGURES = take_named(keep_figure)
_PERTURBATION = take_fields(
    name=show_name, robustness=keep_flag, fairness=keep_flag, computed_on=keep_one_of(*_COMPUTED_ON), seed=keep_setting,
    prob=keep_setting, num_spaces=keep_setting,
)  # fmt: skip
_OBJECT = take_fields(class_name=show_name, args=show_settings)
_ANNOTATOR = take_fields(
    class_name=show_name, args=put_instead({}, "settings")
)  # they contain the judges' prompt templates
_INPUT = take_fields(
    text=blank_text, multimedia_content=leave_out("media"), messages=leave_out("texts of cases")
)
_OUTPUT = take_fields(text=blank_text, multimedia_content=leave_out("media"))
_REFERENCE = take_fields(output=_OUTPUT, tags=take_each(_keep_tag))
_INSTANCE = take_fields(
    input=_INPUT,
    references=take_each(_REFERENCE),
    split=keep_one_of(*_SPLITS),
    sub_split=show_name_of_data,
    id=hash_id,
    perturbation=_PERTURBATION,
    contrast_inputs=leave_out("contrast sets"),
    contrast_references=leave_out("contrast sets"),
    extra_data=leave_out("extra data"),
)
_REQUEST = take_fields(
    model_deployment=show_name,
    model=show_name,
    embedding=keep_flag,
    prompt=blank_text,
    temperature=keep_setting,
    num_completions=keep_setting,
    top_k_per_token=keep_setting,
    max_tokens=keep_size,
    stop_sequences=take_each(redact_text),
    echo_prompt=keep_flag,
    top_p=keep_setting,
    presence_penalty=keep_setting,
    frequency_penalty=keep_setting,
    random=show_name,
    messages=leave_out("texts of cases"),
    multimodal_prompt=leave_out("media"),
    image_generation_parameters=leave_out("settings"),
    response_format=leave_out("settings"),
)
_COMPLETION = take_fields(
    text=redact_output,
    logprob=put_instead(0, "log probabilities"),
    tokens=put_instead([], "lists of tokens"),
    finish_reason=take_fields(reason=keep_one_of(*_FINISHED)),
    multimodal_content=leave_out("media"),
    thinking=take_fields(text=redact_output),
)
_RESULT = take_fields(
    success=keep_flag,
    embedding=put_instead([], "embeddings"),
    completions=take_each(_COMPLETION),
    cached=keep_flag,
    request_time=leave_out("times"),
    request_datetime=leave_out("times"),
    error=blank_text,
    error_flags=take_fields(is_retriable=keep_flag, is_fatal=keep_flag),
    batch_size=leave_out("times"),
    batch_request_time=leave_out("times"),
)
_ADAPTER = take_fields(
    **dict.fromkeys(
        (
            "global_prefix", "global_suffix", "instructions", "input_prefix", "input_suffix", "reference_prefix",
            "reference_suffix", "chain_of_thought_prefix", "chain_of_thought_suffix", "output_prefix", "output_suffix",
            "instance_prefix", "output_mapping_pattern",
        ),
        redact_text,
    ),
    **dict.fromkeys(
        (
            "max_train_instances", "num_outputs", "num_train_trials", "num_trials", "temperature",
        ),
        keep_setting,
    ),
    max_eval_instances=keep_figure,
    max_tokens=keep_size,
    sample_train=keep_flag,
    multi_label=keep_flag,
    method=show_name,
    model=show_name,
    model_deployment=show_name,
    random=show_name,
    eval_splits=take_each(keep_one_of(*_SPLITS)),
    reference_prefix_characters=take_each(redact_text),
    stop_sequences=take_each(redact_text),
    substitutions=take_each(take_fields(source=redact_text, target=redact_text)),
    reeval_parameters=take_fields(model_ability=keep_setting),
    image_generation_parameters=leave_out("settings"),
)  # fmt: skip
_REQUEST_STATE = take_instance(
    take_fields(
        instance=_INSTANCE,
        reference_index=keep_setting,
        request_mode=keep_one_of(*_MODES),
        train_trial_index=keep_setting,
        output_mapping=_blank_letters,
        request=_REQUEST,
        result=_RESULT,
        num_train_instances=keep_setting,
        prompt_truncated=keep_flag,
        num_conditioning_tokens=keep_size,
        annotations=redact_annotations,
    ),
    "instance",
    "id",
)
_STAT_NAME = take_fields(
    name=show_name,
    split=keep_one_of(*_SPLITS),
    sub_split=show_name_of_data,
    perturbation=_PERTURBATION,
)
_STAT = take_fields(
    name=take_fields(
        name=show_name,
        split=keep_one_of(*_SPLITS),
        sub_split=show_name_of_data,
        perturbation=_PERTURBATION,
    ),
    **dict.fromkeys(FIGURES, keep_up_to(HIGHEST_SUM)),  # `are_consistent` sets stricter limits
)
_STATS = _drop_times(take_each(_take_stat))
_RUN_SPEC = take_fields(
    name=show_run_name,
    scenario_spec=_OBJECT,
    adapter_spec=_ADAPTER,
    metric_specs=take_each(_OBJECT),
    data_augmenter_spec=take_fields(
        perturbation_specs=take_each(_OBJECT),
        **dict.fromkeys(
            (
                "should_augment_train_instances", "should_include_original_train", "should_skip_unchanged_train",
                "should_augment_eval_instances", "should_include_original_eval", "should_skip_unchanged_eval",
            ),
            keep_flag,
        ),
        seeds_per_instance=keep_setting,
    ),
    groups=take_each(show_name),
    annotators=take_each(_ANNOTATOR),
)  # fmt: skip
_KEY_OF_ANSWER = {
    "instance_id": hash_id,
    "perturbation": _PERTURBATION,
    "train_trial_index": keep_setting,
}
_CELL = take_fields(
    value=_show_title,
    display_value=_show_title,
    description=redact_text,
    lower_is_better=keep_flag,
    markdown=keep_flag,
    metadata=show_settings,
    run_spec_names=take_each(show_run_name),
    style=leave_out("settings"),
    href=leave_out("links"),
)
_TABLE = take_fields(
    title=_show_title,
    name=redact_text,
    description=redact_text,
    header=take_each(_CELL),
    rows=take_each(take_each(_CELL)),
    links=put_instead([], "links"),
)

# The files of a run. Texts of the same instance are redacted together, even if they are in different files.
OF_A_RUN: Final[Mapping[str, Step]] = {
    "run_spec.json": _RUN_SPEC,
    "scenario.json": take_fields(
        name=show_name,
        description=redact_text,
        tags=take_each(redact_text),
        definition_path=_keep_source,
        url=leave_out("settings"),
    ),
    "scenario_state.json": take_fields(
        adapter_spec=_ADAPTER,
        request_states=take_each(_REQUEST_STATE),
        annotator_specs=take_each(_ANNOTATOR),
    ),
    "instances.json": take_each(take_instance(_INSTANCE, "id")),
    "display_predictions.json": take_each(
        take_instance(
            take_fields(
                **_KEY_OF_ANSWER,
                predicted_text=redact_output,
                truncated_predicted_text=redact_output,
                base64_images=put_instead([], "media"),
                mapped_output=blank_text,
                reference_index=keep_setting,
                stats=_take_figures,
                annotations=redact_annotations,
                thinking_text=redact_output,
            ),
            "instance_id",
        )
    ),
    "display_requests.json": take_each(
        take_instance(take_fields(**_KEY_OF_ANSWER, request=_REQUEST), "instance_id")
    ),
    "per_instance_stats.json": take_each(
        take_instance(take_fields(**_KEY_OF_ANSWER, stats=_STATS), "instance_id")
    ),
    "stats.json": _STATS,
}

# The files of a suite, which helm-summarize writes.
OF_A_SUITE: Final[Mapping[str, Step]] = {
    "schema.json": _show_schema,
    "summary.json": take_fields(
        release=show_name, suites=take_each(show_name), suite=show_name, date=leave_out("times")
    ),
    "costs.json": take_named(_take_figures),
    "runs.json": take_each(take_fields(run_path=_show_run_path, run_spec=_RUN_SPEC, stats=_STATS)),
    "run_specs.json": take_each(_RUN_SPEC),
    "runs_to_run_suites.json": take_named_runs(show_name),
    "groups.json": take_each(_TABLE),
    "groups_metadata.json": take_named(
        take_fields(
            display_name=_show_title,
            short_display_name=_show_title,
            description=redact_text,
            taxonomy=show_settings,
        )
    ),
}
TABLES: Final[Mapping[str, Step]] = {
    "groups": take_each(_TABLE),
    "groups/json": _TABLE,
}  # applied to every file in these folders
