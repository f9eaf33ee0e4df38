"""Show what each measure of a run reads from an answer: the value, its place in the answer, and the rule. Pure.

A reading depends on the stored answer and on the version of the reading rules alone, so it is computed when somebody
asks for it, and never stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.metrics import WHOLE_TEXT, read_answer
from agent.reading.json_answers import AnswerPart
from agent.reading.parsers import extract_part
from agent.reading.reading import Reading
from agent.reading.version import READING_VERSION
from agent.scoring.cut_off import breaks_off, depends_on_reading
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import select_answer
from agent.store import Run
from agent.vocabulary import Failure, Instance, Reason, Response, Unscored

PARSER_RULES = {
    "json": (
        "field of the parser",
        "The benchmark's parser, or `--parser json`, selects the JSON field.",
    ),
    "pattern": (
        "pattern of the parser",
        "The benchmark's parser, or `--parser pattern`, selects the last match of a pattern.",
    ),
    "label": (
        "label of the parser",
        "The benchmark's parser finds which of its labels the answer states.",
    ),
}
"""The rules of parsers that select a part of an answer, by kind: name and meaning."""


def is_read_by_these_rules(run: Run) -> bool:
    """Return whether a run's answers were read by this version of the rules, so that readings explain its scores."""
    return not run.imported and run.details.reading_version == READING_VERSION


def describe_other_version(run: Run) -> str:
    """Return a sentence about a run whose answers were read by another version of the rules; empty for others."""
    if run.imported or is_read_by_these_rules(run):
        return ""
    return (
        f"The answers were read by version {run.details.reading_version} of the reading rules, and this agent has "
        f"version {READING_VERSION}: `intramural rescore --suite {run.suite}` reads and scores them again."
    )


@dataclass(frozen=True, slots=True)
class MeasuredReading:
    """What one measure reads from an answer, or the reason why it reads nothing."""

    measure: Measure
    reading: Reading | Unscored


def read_response(
    rules: Rules, instance: Instance, result: Response | Failure
) -> Iterator[MeasuredReading]:
    """Yield what every measure by our own rules reads from an answer.

    HELM's rules are left out: they compare the whole text.
    """
    part = _select_part(rules, result)
    for measure in rules.measures:
        if measure.rules == "helm":
            continue
        reading = _read_part(rules, measure, instance, part)
        if depends_on_reading(reading) and breaks_off(rules, measure, instance, result):
            reading = Unscored(Reason.LENGTH)
        yield MeasuredReading(measure, reading)


def _select_part(rules: Rules, result: Response | Failure) -> AnswerPart | Unscored:
    answer = select_answer(rules, result, "intramural")
    if isinstance(answer, Unscored):
        return answer
    if isinstance(result, Failure):
        return Unscored(result.reason)
    return extract_part(rules.parser, result.text)


def _read_part(
    rules: Rules, measure: Measure, instance: Instance, part: AnswerPart | Unscored
) -> Reading | Unscored:
    if isinstance(part, Unscored):
        return part
    reading = read_answer(measure.use, part.text, instance)
    if isinstance(reading, Unscored) or rules.parser.kind not in PARSER_RULES:
        return reading
    name, _ = PARSER_RULES[rules.parser.kind]
    start, end = part.locate(reading.start, reading.end)
    rule = name if reading.rule == WHOLE_TEXT else f"{name}, {reading.rule}"
    return Reading(reading.value, start, end, rule)
