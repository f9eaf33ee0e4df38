"""Find the stored answers and judgements on which a forecast can rest. Reads the store only."""

from collections.abc import Iterator

from agent.judging.jury_selection import SeatedJudge
from agent.metrics import MetricUse
from agent.runs.forecast.seen import SEEN_FIRST, SeenAnswers
from agent.runs.plan import Plan
from agent.store import Run, Store

_READ = 1000  # maximum answers of a run that are read


def find_seen_answers(store: Store, plan: Plan) -> SeenAnswers | None:
    """Return the answers of the newest run that asked the plan's deployment such questions in the same way.

    None if there are fewer than `SEEN_FIRST`.
    """
    for run in _list_newest(store, plan.benchmark.id):
        is_alike = (
            run.deployment == plan.deployment.name
            and run.details.answer_mode == plan.answer_mode
            and run.details.max_tokens == plan.max_tokens
        )
        if not is_alike:
            continue
        sizes = store.answers.read_sizes(run.run_id, _READ)
        if len(sizes) < SEEN_FIRST:
            continue
        seen = SeenAnswers().add(sizes)
        usage = store.answers.sum_usage(run.run_id)
        if usage.answers == seen.count and not store.answers.has_answers_from_before(run.run_id):
            seen.asked_seconds = usage.asked_seconds or None
        return seen
    return None


def find_seen_judgements(
    store: Store, judge: SeatedJudge, benchmark: str, use: MetricUse
) -> SeenAnswers | None:
    """Return the judgements of this judge by the same rubric in the newest run of a benchmark.

    None if there are fewer than `SEEN_FIRST`.
    """
    for run in _list_newest(store, benchmark):
        seats = _find_seats(run, judge, use)
        if not seats:
            continue
        sizes = store.juries.read_sizes(run.run_id, seats, _READ)
        if len(sizes) >= SEEN_FIRST:
            return SeenAnswers().add(sizes)
    return None


def _list_newest(store: Store, benchmark: str) -> Iterator[Run]:
    """Yield the runs of a benchmark that were made here, the newest first."""
    runs = [run for run in store.runs.select() if run.benchmark == benchmark and not run.imported]
    yield from sorted(runs, key=lambda run: run.started_at, reverse=True)


def _find_seats(run: Run, judge: SeatedJudge, use: MetricUse) -> list[int]:
    """Return the seats that this judge had on a run's jury; [] if verdicts of that jury had other parts."""
    for metric in run.details.metrics:
        jury = metric.jury
        if jury is None:
            continue
        asked = (jury.criteria, jury.fields, jury.prompt, jury.gold_shown)
        if asked != (use.criteria, use.fields, use.prompt, use.gold_shown):
            return []
        return [
            number
            for number, seated in enumerate(metric.judges)
            if (seated.model_deployment or seated.model_name) == judge.deployment.name
        ]
    return []
