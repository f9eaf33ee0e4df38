"""A site whose jury has graded answers of several models, and clinicians who fill in their sheets."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.catalog.benchmark import survey_benchmarks
from agent.metrics import AnswerParser, MetricUse
from agent.scoring.measures import Rules
from agent.vocabulary import Instance, Message, Reference, Response
from tests.agent.service.filled_site import Case, FilledSite
from tests.agent.service.judged import CRITERIA, JUDGES, keep_seats, verdict

MODELS = ("meta/llama-3.3-70b-instruct", "qwen/qwen2.5-7b-instruct", "openai/gpt-oss-20b")
CANARY = "Rosalind Achterberg"  # a name that redaction must find: it follows "patient"
BENCHMARK = "medication_qa"
ROUGE = "rouge_l"


def quality(model: str, number: int) -> int:
    """How good an answer is, from 1 to 5; jury and clinicians see it with errors of their own."""
    return 1 + (7 * number + 3 * MODELS.index(model)) % 5


def answer(model: str, number: int) -> str:
    return f"Take {quality(model, number)} tablets with water, as answer {number} of {MODELS.index(model)} says."


def cases(
    model: str, count: int, *, units: int | None = None, text: Callable[[str, int], str] = answer
) -> list[Case]:
    return [
        Case(
            Instance(
                f"id-{number}",
                f"unit-{number % (units or count)}",
                (
                    Message(
                        "user", f"The patient {CANARY} asks, question {number}: how many tablets?"
                    ),
                ),
                (Reference(f"Take {number} tablets.", True),),
            ),
            Response(text(model, number), "", "stop", 10, 5, 0.1),
            quality(model, number) / 5,
        )
        for number in range(count)
    ]


def add_graded(
    filled: FilledSite, count: int = 30, *, suite: str = "spring", models: Sequence[str] = MODELS
) -> None:
    """Store a run of each model whose three judges graded every answer: one exactly, one a little high, one at odds."""
    for model in models:
        given = cases(model, count)
        add_run(filled, model, given, suite=suite)


def add_run(
    filled: FilledSite,
    model: str,
    given: Sequence[Case],
    *,
    suite: str = "spring",
    judged: bool = True,
    more: Sequence[MetricUse] = (),
    **jury: Any,
) -> str:
    """Store a run; `jury` replaces what its jury is asked, `more` are metrics besides jury and ROUGE-L."""
    catalogue, _ = survey_benchmarks(filled.site.own_benchmarks)
    wanted = [use for use in catalogue[BENCHMARK].metrics if use.name in ("jury_score", ROUGE)]
    uses = [
        replace(use, **{"judges": JUDGES, **jury}) if use.name == "jury_score" else use
        for use in wanted
    ]
    rules = Rules.of([*uses, *more], "intramural", AnswerParser("text"), "")
    facts = [metric.to_json() for metric in rules.list_stored_metrics()]
    run_id = filled.add(given, suite=suite, entry=f"{BENCHMARK}:model={model}", metrics=facts)
    if judged:
        with filled.site.store() as store:
            replies = {
                number: [
                    [verdict(quality(model, number))],
                    [verdict(min(5, quality(model, number) + 1))],
                    [verdict(1 + (number * 3) % 5)],
                ]
                for number in range(len(given))
            }
            keep_seats(store, run_id, given, replies)
    return run_id


def read(path: Path) -> list[dict[str, str]]:
    """A sheet as a clinician's spreadsheet shows it."""
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))


def fill_in(
    path: Path, grade: Callable[[dict[str, str], str], str], *, delimiter: str = ","
) -> Path:
    """Write what `grade` says of each row and criterion into the sheet; return it."""
    rows = read(path)
    for row in rows:
        for criterion in CRITERIA:
            row[f"{criterion} (1 to 5)"] = grade(row, criterion)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path
