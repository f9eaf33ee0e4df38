"""A suite that a jury graded, and what `summarize` says of it."""

import random
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from agent.cli.summarize import summarize
from agent.store import Seat
from agent.vocabulary import Reason, Unscored
from tests.agent.service.filled_site import FilledSite, case, filled_site, graded, unscored

JUDGES = [
    ["site/llama", "meta/llama-3.3-70b-instruct", "llama"],
    ["site/qwen", "qwen/qwen2.5-72b-instruct", "qwen"],
    ["site/phi", "microsoft/phi-4", "phi"],
]
CRITERIA = ("accuracy", "completeness", "clarity")


def jury_metric(judges: list[list[str]] = JUDGES) -> dict[str, Any]:
    jury = {
        "judges": judges,
        "quorum": None,
        "scale": [1, 5],
        "criteria": dict.fromkeys(CRITERIA, "?"),
    }
    return {
        **{
            "name": "jury_score",
            "metric": "jury_score",
            "display_name": "Jury score",
            "helm_name": "jury_score",
        },
        **{
            "low": 1,
            "high": 5,
            "binary": False,
            "scoring": "intramural",
            "whole_run": False,
            "options": {},
        },
        "jury": jury | {"fields": {}, "prompt": "", "gold_shown": True},
    }


def judged_run(
    filled: FilledSite,
    model: str,
    level: float,
    n: int = 40,
    judges: list[list[str]] = JUDGES,
    benchmark: str = "mtsamples_replicate",
    **details: Any,
) -> None:
    """A run that three judges graded: the third failed on every fifth answer, the second on the first."""
    chance = random.Random(model)
    cases, kept = [], []
    for number in range(n):
        seats = [
            Seat(at, dict.fromkeys(CRITERIA, level + chance.choice((-0.5, 0, 0.5))), None)
            for at in range(3)
        ]
        if number % 5 == 0:
            seats[2] = Seat(2, None, "no_json", repaired=True)
        if number == 0:
            seats[1] = Seat(1, None, Reason.TIMEOUT)
        valid = [sum(seat.grades.values()) / 3 for seat in seats if seat.grades]
        score = sum(valid) / len(valid) if len(valid) > 1 else Unscored(Reason.NOT_JUDGED)
        cases.append(case(number, score=score))
        kept += [(number, "jury_score", seat) for seat in seats]
    run_id = filled.add(
        cases, entry=f"{benchmark}:model={model}", **{"metrics": [jury_metric(judges)], **details}
    )
    with filled.site.store() as store:
        store.scores.keep(run_id, [], [], kept)


def summarized(filled: FilledSite, *words: str) -> Result:
    done = CliRunner().invoke(summarize, ["--suite", "november", *words], obj=filled.site)
    if isinstance(done.exception, Exception):
        raise done.exception
    return done


def row(table: str, *words: str) -> str:
    return next(line for line in table.splitlines() if all(word in line for word in words))


def judged_site(tmp_path: Path) -> FilledSite:
    """A site with two models that a jury graded, and that answered questions besides."""
    filled = filled_site(tmp_path)
    judged_run(filled, "meta/llama-3.1-8b-instruct", 3)
    judged_run(filled, "google/gemma-3-27b-it", 4)
    filled.add(
        [*graded(60, 100), *map(unscored, range(100, 120))],
        entry="pubmed_qa:model=google/gemma-3-27b-it",
    )
    filled.add(graded(0, 120), entry="pubmed_qa:model=meta/llama-3.1-8b-instruct")
    return filled
