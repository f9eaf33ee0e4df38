"""Write what was read from each answer, with its scores, to a new file that only its owner can read.

The file holds no answer, but the values read from answers, such as queries, may hold patient text.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from agent.errors import ConfigError
from agent.io.new_file import check_new, open_new
from agent.io.plain_text import format_cell
from agent.metrics import WHOLE_TEXT
from agent.reading.reading import Reading
from agent.scoring.measures import Rules
from agent.scoring.readings import read_response
from agent.scoring.unread_answers import classify_answer
from agent.vocabulary import OWN_MAKING, Instance, Response, Unscored

_FORMS = (".csv", ".jsonl")

ScoresByMetric = Mapping[str, float | Unscored]


@dataclass(frozen=True, slots=True)
class ReadInstance:
    """What was read from the answer to one instance.

    Attributes:
        instance_id: the id in the file of answers.
        reading: the main metric's reading, or the first metric's that reads something; None if none does, or if the
            main metric does not read the answer. Its place is that in the file's answer; -1 if it cannot be told.
        unread: the kind of an answer that the main metric does not read; empty otherwise.
        scores: scores by metric.
    """

    instance_id: str
    reading: Reading | None
    unread: str
    scores: ScoresByMetric


def check_readings_path(path: Path) -> None:
    """Check the name of a file of readings before anything is scored.

    Raises:
        ConfigError: it has another ending, or the file exists.
    """
    if path.suffix.lower() not in _FORMS:
        raise ConfigError(
            f"--out {path.name} ends in neither .csv nor .jsonl",
            "The ending determines the format: choose one of the two.",
        )
    check_new(path)


def read_instance(
    rules: Rules,
    instance: Instance,
    answer: str | None,
    response: Response | None,
    scores: ScoresByMetric,
) -> ReadInstance:
    """Return what was read from an answer in a file.

    Args:
        rules: the rules of the scores.
        instance: the question.
        answer: the text in the file; None if there is no answer.
        response: the response that the text stands for.
        scores: the scores of the answer.
    """
    if answer is None or response is None:
        return ReadInstance(instance.id, None, "", scores)
    shown: Reading | None = None
    for measured in read_response(rules, instance, response):
        if shown is None and isinstance(measured.reading, Reading):
            shown = measured.reading
    main = rules.measures[0]
    score = scores.get(main.name)
    unread = ""
    if isinstance(score, Unscored) and score.reason in OWN_MAKING:
        unread = classify_answer(rules.parser, main, instance, response, score.reason).name
    if unread:
        return ReadInstance(instance.id, None, unread, scores)
    if shown is not None:
        shown = _move(shown, _find_offset(answer, response))
    return ReadInstance(instance.id, shown, unread, scores)


def _find_offset(answer: str, response: Response) -> int:
    """Return where the text without reasoning and marks begins in the file's answer; -1 if that cannot be told."""
    begin = 0
    if response.reasoning:
        begin = max(0, answer.find(response.reasoning)) + len(response.reasoning)
    start = answer.find(response.text, begin)
    return start if start == answer.rfind(response.text, begin) else -1


def _move(reading: Reading, offset: int) -> Reading:
    if offset < 0:
        return Reading(reading.value, -1, -1, reading.rule)
    return Reading(reading.value, reading.start + offset, reading.end + offset, reading.rule)


def write_readings(path: Path, rules: Rules, instances: Iterable[ReadInstance]) -> int:
    """Write one row for each instance; return their number.

    Raises:
        ConfigError: the file exists or cannot be written.
    """
    is_csv = path.suffix.lower() == ".csv"
    with open_new(path, newline="" if is_csv else None) as file:
        write = _write_csv if is_csv else _write_json_lines
        return write(file, rules, instances)


def _write_json_lines(file: TextIO, rules: Rules, instances: Iterable[ReadInstance]) -> int:
    count = 0
    for read in instances:
        row = _describe_reading(read)
        row["scores"] = {name: score for name, score, _ in _iter_scores(rules, read)}
        row["unscored"] = {name: reason for name, _, reason in _iter_scores(rules, read) if reason}
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        count += 1
    return count


def _write_csv(file: TextIO, rules: Rules, instances: Iterable[ReadInstance]) -> int:
    writer = csv.writer(file)
    columns = ["instance_id", "rule", "value", "start", "end", "unread"]
    for measure in rules.measures:
        columns += [measure.name, f"{measure.name}_unscored"]
    writer.writerow(columns)
    count = 0
    for read in instances:
        cells = [_format_cell(value) for value in _describe_reading(read).values()]
        for _, score, reason in _iter_scores(rules, read):
            cells += [_format_cell(score), reason]
        writer.writerow(cells)
        count += 1
    return count


def _describe_reading(read: ReadInstance) -> dict[str, object]:
    """Return the columns of the reading. A text that is compared whole is not repeated."""
    reading = read.reading
    is_whole = reading is not None and reading.rule == WHOLE_TEXT
    has_place = reading is not None and reading.start >= 0
    return {
        "instance_id": read.instance_id,
        "rule": reading.rule if reading else None,
        "value": _replace_surrogates(reading.value) if reading and not is_whole else None,
        "start": reading.start if reading and has_place else None,
        "end": reading.end if reading and has_place else None,
        "unread": read.unread or None,
    }


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which a field of JSON can hold but files cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _iter_scores(rules: Rules, read: ReadInstance) -> Iterator[tuple[str, float | None, str]]:
    """Yield (metric, score, reason) of every measure; a metric of the whole run gives no score to an instance."""
    for measure in rules.measures:
        score = read.scores.get(measure.name)
        if isinstance(score, Unscored):
            yield measure.name, None, score.reason.value
        else:
            yield measure.name, score, ""


def _format_cell(value: object) -> str:
    """Format a cell. A negative number is no formula."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return format_cell(value)
        return value
    return format_cell(value)
