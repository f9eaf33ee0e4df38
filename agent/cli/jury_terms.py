"""How a benchmark's jury grades (scale, questions, judges), with an example prompt, for the benchmark's author."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.catalog.benchmark import Benchmark
    from agent.metrics import MetricUse
    from agent.vocabulary import Instance, Message

ANSWER = "(the model's answer)"
MARKER = "NEWMARKEACHTIME"
"""Stands for the delimiters around texts, which are random in each real request to a judge."""


def find_jury_metric(benchmark: "Benchmark") -> "MetricUse | None":
    """Return the metric that a jury grades, or None."""
    from agent.metrics import JUDGED

    return next((use for use in benchmark.metrics if use.name in JUDGED), None)


def build_jury_terms(use: "MetricUse") -> dict[str, Any]:
    """Return a jury's scale, its judges, and criterion -> question ("" if the benchmark's own prompt asks it)."""
    judges = []
    for judge in use.judges:
        judges.append(
            {
                "name": judge.name,
                "model": judge.model_name,
                "model_deployment": judge.model_deployment,
                "seed": judge.seed,
                "temperature": judge.temperature,
            }
        )
    return {
        "criteria": dict(use.criteria),
        "own_prompt": bool(use.prompt),
        "scale": {"low": use.scale.low, "high": use.scale.high},
        "quorum": use.quorum,
        "gold_shown": _is_gold_shown(use),
        "judges": judges,
    }


def describe_jury(use: "MetricUse") -> list[str]:
    """Return lines that describe how a jury grades."""
    from agent.jury.seats import label_seats

    lines = [f"{use.name}: grades from {use.scale.low:g} to {use.scale.high:g}"]
    for name, question in use.criteria.items():
        lines.append(f"  {name}: {question}" if question else f"  {name}")
    prompt = "the benchmark's own prompt" if use.prompt else "the default prompt"
    gold = "shown" if _is_gold_shown(use) else "not shown"
    lines.append(f"  asked with {prompt}; the right answer is {gold}")
    quorum = f", and at least {use.quorum}" if use.quorum else ""
    lines.append(f"  valid verdicts needed: more than half of the seats{quorum}")
    judges = ", ".join(label_seats(use.judges))
    lines.append(
        f"  judges: {judges or 'named by --judges, by the run entry, or by judges.yaml in the site'}"
    )
    return lines


def write_judge_example(use: "MetricUse", instance: "Instance") -> "tuple[Message, ...]":
    """Return the messages that a judge would get for an answer to this instance."""
    from agent.jury.prompts import build_matter, write_judge_messages

    return write_judge_messages(use, build_matter(instance, ANSWER), MARKER)


def _is_gold_shown(use: "MetricUse") -> bool:
    return use.gold_shown and (not use.prompt or "{GOLD_RESPONSE}" in use.prompt)
