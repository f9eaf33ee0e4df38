"""A check of `intramural doctor`, and the summary of checks that found nothing to do."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from agent.errors import AgentError

Verdict = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of the report.

    Attributes:
        subject: what was checked.
        verdict: whether something should be done.
        finding: what was found.
        advice: what to do; empty if nothing.
        exit_code: the exit code of the error behind a failure.
        kind: the name of the line that summarises all checks of this kind that are ok, if any.
        summary: the finding about several such checks, with `{count}`; if empty, the findings are listed.
    """

    subject: str
    verdict: Verdict
    finding: str
    advice: str = ""
    exit_code: int = 0
    kind: str = ""
    summary: str = ""


def run_check(subject: str, check: Callable[[], Check]) -> Check:
    """Return the check, or the error that it raised as a failure."""
    try:
        return check()
    except AgentError as error:
        return Check(subject, "failed", str(error), error.advice, error.exit_code)


def summarise_ready(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks, with those in a row that are of one kind and ok replaced by one.

    Warnings and failures follow the summary of their kind, each as it is.
    """
    kind = ""
    waiting: list[Check] = []
    for check in checks:
        if check.kind != kind:
            yield from _summarise_kind(waiting)
            kind, waiting = check.kind, []
        if kind:
            waiting.append(check)
        else:
            yield check
    yield from _summarise_kind(waiting)


def _summarise_kind(checks: Iterable[Check]) -> Iterator[Check]:
    ready: list[Check] = []
    others: list[Check] = []
    for check in checks:
        (ready if check.verdict == "ok" else others).append(check)
    if len(ready) == 1:
        yield ready[0]
    elif ready:
        yield Check(ready[0].kind, "ok", "; ".join(_list_findings(ready)), kind=ready[0].kind)
    yield from others


def _list_findings(ready: Iterable[Check]) -> list[str]:
    """Return the findings, and the number of checks in place of those that have a common summary."""
    counts: dict[str, int] = {}
    findings: list[str] = []
    for check in ready:
        if check.summary:
            counts[check.summary] = counts.get(check.summary, 0) + 1
        else:
            findings.append(check.finding)
    return [summary.format(count=count) for summary, count in counts.items()] + findings
