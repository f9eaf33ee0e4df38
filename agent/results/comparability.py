"""List the traits that two runs or metrics must share to be compared, joined or paired, without I/O."""

import json
from collections.abc import Hashable
from dataclasses import dataclass

from agent.metrics.own import DIGEST_OPTION, read_digest
from agent.store import KeptMetric, Run

# Arguments that an entry may set for each model separately, as HELM does. They do not change other models' questions.
OF_MODEL = frozenset(
    {"model", "model_deployment", "num_output_tokens", "increase_max_tokens", "temperature", "stop"}
)
# The key of the way of asking; ignored because the recorded way of asking is always compared.
ANSWER_MODE = "answer_mode"
# The keys that set the parser; ignored because the recorded parser is always compared.
PARSER_KEYS = frozenset({"parser", "answer_field", "answer_pattern"})
# The argument that names an entry's data; ignored because the digest of the data is always compared.
DATA = "data"


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a benchmark that a run covers: its arguments and the digest of its data."""

    arguments: frozenset[tuple[str, str]]
    data_digest: str | None


def identify_part(run: Run) -> Part:
    """Return the part of the benchmark that a run covers, from the run's arguments and its entry's arguments."""
    entry_arguments = {
        key: value
        for key, value in run.pairs
        if key not in OF_MODEL | PARSER_KEYS and key not in (DATA, ANSWER_MODE)
    }
    arguments = entry_arguments | dict(run.details.arguments)
    return Part(frozenset(arguments.items()), run.details.data.digest)


def build_unit_prefix(run: Run) -> bytes:
    """Return a prefix for unit keys that differs between parts of the data and is the same for all models.

    Without it, units that have no name would collide: they are row numbers, and every part starts at row 0.
    """
    if run.details.unit_named:
        return b""
    part = identify_part(run)
    return repr((sorted(part.arguments), part.data_digest)).encode() + b" "


def list_question_traits(run: Run) -> dict[str, Hashable]:
    """Return the traits, besides the part, that two runs must share if they asked the same questions.

    Each key names the trait, in the words used to report a difference.
    """
    origin = run.details.origin
    return {
        "made elsewhere": None if origin is None else (origin.kind, run.suite),
        "another definition of the benchmark": run.details.benchmark_digest,
        "another kind of data": run.details.data.known,
        "another way of asking": run.details.answer_mode,
    }


def list_pairing_traits(run: Run) -> dict[str, Hashable]:
    """Return the traits, besides the part, that two runs must share for their instances to be paired by id.

    Each key names the trait, in the words used to report a difference.
    """
    return {
        **list_question_traits(run),
        "instance ids from another numbering of rows": run.details.data.row_numbers,
    }


def list_metric_traits(run: Run, metric: KeptMetric) -> dict[str, Hashable]:
    """Return the traits that a metric must share in two runs for its values to be comparable.

    Each key names the trait, in the words used to report a difference.
    """
    details = run.details
    scoring = metric.scoring or details.scoring
    version = "" if run.imported else details.agent_version
    is_read = scoring == "intramural" and not run.imported
    return {
        "other scoring rules": (scoring, version, details.reading_version if is_read else 1),
        "another parser of answers": encode_parser(run) if scoring == "intramural" else None,
        "other code of the site's own metric": read_digest(metric.options),
        "another encoder or other options of the metric": _encode_options_without_code(metric),
        "another jury": encode_jury(run, metric),
    }


def encode_parser(run: Run) -> tuple[str, ...] | None:
    """Return the parser that selects a part of an answer; None if the whole answer is read.

    An imported run does not state its parser, but its name has the keys with which a run entry set one.
    """
    if run.imported:
        named = [f"{key}={value}" for key, value in run.pairs if key in PARSER_KEYS]
        return tuple(sorted(named)) or None
    parser = run.details.parser
    if parser is None or parser.kind in ("option_letter", "text"):
        return None
    labels = [json.dumps(words) for words in parser.labels]
    return (parser.kind, parser.field, parser.pattern, *labels)


def encode_options(metric: KeptMetric) -> str:
    """Return a metric's options as JSON. They include the digest of its encoder or of the site's own code."""
    return json.dumps(dict(metric.options), sort_keys=True)


def _encode_options_without_code(metric: KeptMetric) -> str:
    options = {key: value for key, value in metric.options.items() if key != DIGEST_OPTION}
    return json.dumps(options, sort_keys=True)


def encode_jury(run: Run, metric: KeptMetric) -> str | None:
    """Return a metric's jury and its questions as text; None if the metric has no jury.

    For an imported jury the text contains only its judges, because its other fields are inferred from their replies.
    """
    if metric.jury is None:
        return None
    if run.imported:
        return repr(metric.jury.judges)
    return json.dumps(metric.jury.to_json(), sort_keys=True)
