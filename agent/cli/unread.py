"""Show which answers were not read: their kinds, redacted examples, and the option to try."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from agent.cli.output import fitting, show_rows, with_site
from agent.errors import AgentError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.redaction.gateway.cases import Clearer
    from agent.results.summarize import RunSummary
    from agent.scoring.unread_answers import UnreadAnswer, UnreadAnswers, UnreadGroup
    from agent.store import Run

_EXAMPLES = 5  # in a notice that nobody asked for
_RUNS = 3  # with such a notice
_HALF = 90  # characters of the beginning and of the end of a long example
_PURGED = "texts purged"
_KEPT = "this output is kept in a file; `intramural summarize --unread` shows them"

_hides_examples = ContextVar("hides_examples", default=False)


@contextmanager
def hide_examples() -> Iterator[None]:
    """Return a context in which no example is shown, since the output is kept in a file."""
    token = _hides_examples.set(True)
    try:
        yield
    finally:
        _hides_examples.reset(token)


class ExampleRedactor:
    """Redacts answers for the terminal. The engine is opened for the first one.

    Without a site, nobody has chosen a policy, so the strictest one applies. If the engine cannot be opened, no example
    is shown.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._clearer: Clearer | None = None
        self.problem = _KEPT if _hides_examples.get() else ""

    def redact(self, examples: "Sequence[UnreadAnswer]") -> list[str]:
        """Return the answers, redacted and shortened; none if the engine cannot be opened."""
        if not examples or self.problem:
            return []
        try:
            self._clearer = self._clearer or self._open()
        except AgentError as error:
            self.problem = str(error)
            return []
        answered = [(example.instance, example.response.text) for example in examples]
        cleared = self._clearer.clear_answered(answered, "")
        return [_shorten(answer) for _, answer in cleared]

    def _open(self) -> "Clearer":
        from agent.redaction import open_redactor
        from agent.redaction.gateway.cases import Redacting

        if not (self._site.directory / "site.yaml").is_file():
            return Redacting(open_redactor("strict"))
        policy = self._site.settings.redaction_policy
        return Redacting(
            open_redactor(policy, self._site.directory, key=self._site.surrogate_key())
        )


@dataclass(frozen=True, slots=True)
class Adviser:
    """Says what to try for unread answers.

    Attributes:
        is_run: whether the answers are those of a run, whose parser is set in its run entry and not by options.
        is_overridden: whether another parser than the benchmark's own was set.
    """

    is_run: bool
    is_overridden: bool

    def advise(self, groups: "Iterable[UnreadGroup]") -> list[str]:
        """Return the sentences of advice for some groups, each once."""
        kinds = [group.kind for group in groups if group.kind is not None]
        advice: dict[str, None] = {}
        if self.is_overridden and any(kind.depends_on_parser for kind in kinds):
            advice[self._advise_own_parser()] = None
        for kind in kinds:
            sentence = kind.advice_for_run if self.is_run else kind.advice_for_file
            if sentence:
                advice[sentence] = None
        return list(advice)

    def _advise_own_parser(self) -> str:
        if self.is_run:
            settings = "Remove `parser`, `answer_field` and `answer_pattern` from the run entry"
        else:
            settings = "Omit `--parser`, `--answer-field` and `--answer-pattern`"
        return f"{settings}: the benchmark's own parser then reads the answers."


def _build_adviser(run: "Run") -> Adviser:
    from agent.catalog.parser_choice import PARSER_KEYS

    return Adviser(
        is_run=True, is_overridden=not set(PARSER_KEYS).isdisjoint(run.details.overrides)
    )


def _shorten(text: str) -> str:
    line = printable(" ".join(text.split()))
    if len(line) <= 2 * _HALF:
        return line
    return f"{line[:_HALF].rstrip()} ... {line[-_HALF:].lstrip()}"


def report_unread(
    name: str, unread: "UnreadAnswers", metric: str, redactor: ExampleRedactor, adviser: Adviser
) -> None:
    """Print kinds, examples and advice on standard error if many of a run's answers are unread."""
    if not unread.has_many(metric):
        return
    from agent.scoring.unread_answers import choose_examples

    groups = unread.list_groups(metric)
    count, asked = unread.count(metric), unread.get_asked(metric)
    click.echo(
        f"{name}: {count} of {format_count(asked, 'answer')} unread ({metric}), by kind:", err=True
    )
    chosen = list(choose_examples(groups, _EXAMPLES))
    texts = redactor.redact([example for _, example in chosen])
    for group in groups:
        kind = f"{name_kind(group)} ({group.reason.value}){_describe_keys(group)}"
        click.echo(f"  {group.count}  {kind}", err=True)
        for (owner, _), text in zip(chosen, texts, strict=False):
            if owner is group:
                click.echo(f"       {text}", err=True)
    _print_advice(adviser.advise(groups))
    if redactor.problem:
        click.echo(f"  No examples are shown: {redactor.problem}", err=True)


def _print_advice(advice: "Iterable[str]") -> None:
    for sentence in dict.fromkeys(advice):
        click.echo(with_site(f"  To try: {sentence}"), err=True)


def _describe_keys(group: "UnreadGroup") -> str:
    """Return the keys of the group's examples in JSON that are common words; empty if no key has to be named."""
    keys = _list_keys(group)
    return f"; keys: {', '.join(keys)}" if keys else ""


def _list_keys(group: "UnreadGroup") -> list[str]:
    from agent.reading.unread import NO_FIELD, NO_LABEL, NO_MATCH, UNCLEAR_FIELD, list_common_keys

    if group.kind not in (NO_FIELD, NO_LABEL, NO_MATCH, UNCLEAR_FIELD):
        return []
    return list_common_keys(example.response.text for example in group.examples)


def report_unread_runs(site: Site, summaries: "Sequence[RunSummary]") -> None:
    """Print the unread answers of the runs that have many, and which runs were read by other rules."""
    from agent.scoring.readings import describe_other_version

    runs = _list_runs(summaries)
    for sentence in dict.fromkeys(describe_other_version(run) for run in runs):
        if sentence:
            click.echo(with_site(f"note: {sentence}"), err=True)
    if not any(_may_have_many(summary) for summary in summaries):
        return
    from agent.results.unread_runs import gather_unread

    redactor = ExampleRedactor(site)
    shown = 0
    suites: dict[str, int] = {}  # number of further runs with many unread answers
    with site.store() as store:
        for run in _list_runs([summary for summary in summaries if _may_have_many(summary)]):
            main = run.details.metrics[0].name
            unread = gather_unread(store, run)
            if not unread.has_many(main):
                continue
            if shown < _RUNS:
                shown += 1
                report_unread(run.name, unread, main, redactor, _build_adviser(run))
            else:
                suites[run.suite] = suites.get(run.suite, 0) + 1
    for suite, count in suites.items():
        more = format_count(count, "more run")
        command = f"intramural summarize --suite {shlex.quote(suite)} --unread"
        click.echo(with_site(f"{more} with unread answers: `{command}`"), err=True)


def _list_runs(summaries: "Iterable[RunSummary]") -> "list[Run]":
    """Return the runs of this site behind the rows, each once."""
    runs: dict[str, Run] = {}
    for summary in summaries:
        for run in summary.runs or (summary.run,):
            if not run.imported and run.details.metrics:
                runs[run.run_id] = run
    return list(runs.values())


def _may_have_many(summary: "RunSummary") -> bool:
    """Return whether a row has any unread answers under its main metric."""
    from agent.vocabulary import OWN_MAKING

    return any(reason in OWN_MAKING for reason in summary.main.unscored)


def name_kind(group: "UnreadGroup") -> str:
    """Return the name of a group's kind."""
    return _PURGED if group.kind is None else group.kind.name


def show_unread(
    site: Site, summaries: "Sequence[RunSummary]", all_metrics: bool, form: str, title: str
) -> None:
    """Print the unread answers of all runs by metric, reason and kind, with up to five examples of each kind."""
    from agent.results.unread_runs import gather_unread

    redactor = ExampleRedactor(site)
    rows: list[dict[str, Any]] = []
    advice: list[str] = []
    with site.store() as store:
        for run in _list_runs(summaries):
            unread = gather_unread(store, run, all_metrics=all_metrics)
            groups = unread.list_groups()
            advice += _build_adviser(run).advise(groups)
            for group in groups:
                rows.append(_build_row(run, unread.get_asked(group.metric), group, redactor))
    if form == "json":
        show_rows(rows, {}, form)
        return
    columns = {
        "run": "Run",
        "metric": "Metric",
        "reason": "Reason",
        "kind": "Kind",
        "count": "Unread",
        "answers": "Of",
    }
    if form == "csv":
        show_rows(rows, columns, form)
        return
    if not rows:
        click.echo(f"{title}: every answer was read")
        return
    show_rows(rows, fitting(rows, columns, ("reason", "metric")), form, title=title)
    for row in rows:
        if row["examples"]:
            keys = f" (keys: {', '.join(row['keys'])})" if row["keys"] else ""
            click.echo(f"{row['run']}, {row['kind']}{keys}:")
            for text in row["examples"]:
                click.echo(f"  {text}")
    _print_advice(advice)
    if redactor.problem:
        click.echo(f"No examples are shown: {redactor.problem}", err=True)


def _build_row(
    run: "Run", asked: int, group: "UnreadGroup", redactor: ExampleRedactor
) -> dict[str, Any]:
    return {
        "run": run.name,
        "metric": group.metric,
        "reason": group.reason.value,
        "kind": name_kind(group),
        "count": group.count,
        "answers": asked,
        "keys": _list_keys(group),
        "examples": redactor.redact(group.examples),
        "advice": " ".join(_build_adviser(run).advise([group])),
    }
