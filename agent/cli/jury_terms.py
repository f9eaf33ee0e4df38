"""What a benchmark's jury is asked and by which terms, shown to the benchmark's author."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.catalog.benchmark import Benchmark
    from agent.metrics import MetricUse
    from agent.vocabulary import Instance, Message

ANSWER = "(here stands the model's answer)"
MARKER = "NEWMARKEACHTIME"
"""Stands for the marks around texts, which nobody knows before a judge is asked."""


def jury_metric(benchmark: "Benchmark") -> "MetricUse | None":
    """Return the metric that a jury gives, if there is one."""
    from agent.metrics import JUDGED

    return next((use for use in benchmark.metrics if use.name in JUDGED), None)


def jury_terms(use: "MetricUse") -> dict[str, Any]:
    """Return what a jury grades, and by which terms: criterion -> question, empty where its own prompt has them."""
    return {
        "criteria": dict(use.criteria),
        "own_prompt": bool(use.prompt),
        "scale": {"low": use.scale.low, "high": use.scale.high},
        "quorum": use.quorum,
        "gold_shown": _gold_shown(use),
        "judges": [
            {"name": judge.name, "model": judge.model_name, "model_deployment": judge.model_deployment}
            for judge in use.judges
        ],
    }


def jury_lines(use: "MetricUse") -> list[str]:
    """Return the same for people."""
    from agent.jury.seats import name_seats

    judges = name_seats(use.judges)
    needed = "more than half of the seats" + (f", and {use.quorum} at least" if use.quorum else "")
    return [
        f"{use.name}: grades from {use.scale.low:g} to {use.scale.high:g}",
        *(f"  {name}{f': {question}' if question else ''}" for name, question in use.criteria.items()),
        f"  asked in the words of {'a prompt of its own' if use.prompt else 'our prompt'}; the right answer is "
        f"{'shown' if _gold_shown(use) else 'not shown'}",
        f"  valid verdicts needed: {needed}",
        f"  judges: {', '.join(judges) or 'those of --judges, of the run entry, or of judges.yaml of the site'}",
    ]


def asked_of_judge(use: "MetricUse", instance: "Instance") -> "tuple[Message, ...]":
    """Return what a judge would be asked about an answer to this instance."""
    from agent.jury.prompts import build_matter, write_judge_messages

    return write_judge_messages(use, build_matter(instance, ANSWER), MARKER)


def _gold_shown(use: "MetricUse") -> bool:
    return use.gold_shown and (not use.prompt or "{GOLD_RESPONSE}" in use.prompt)
