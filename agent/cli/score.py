"""The commands `rescore`, for the answers of a suite, and `score`, for the answers in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import EXISTING_FILE, FILE, format_option, suite_option
from agent.cli.output import fitting, show_rows
from agent.cli.queueable import Queueable
from agent.cli.summarize import show_summaries
from agent.cli.unread import Adviser, ExampleRedactor, report_unread
from agent.errors import ConfigError
from agent.io.wording import format_count
from agent.results.summary_rows import build_summary_rows
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.runs.rescore import Rescored
    from agent.runs.score_file import ScoredAnswers
    from agent.vocabulary import ScoringChoice

RULES = {"intramural": "our rules", "helm": "HELM's rules"}
SCORING = click.Choice(["intramural", "helm", "both"])
MISSING_SHOWN = 20


@click.command(cls=Queueable)
@suite_option
@click.option(
    "--scoring", type=SCORING, help="Rules to use from now on (default: those of each run)."
)
@click.option("--all-metrics", is_flag=True, help="Also show metrics that did not change.")
@click.option(
    "--replace", is_flag=True, help="Delete scores computed by rules that --scoring does not name."
)
@format_option("csv")
@click.pass_obj
def rescore(
    site: Site,
    suite: str,
    scoring: "ScoringChoice | None",
    all_metrics: bool,
    replace: bool,
    form: str,
) -> None:
    """Score stored answers again with this version's rules.

    Scores all runs of a suite again without asking a model or judge, and reports the changes. Judges' replies are
    parsed again; a missing reply stays missing. Runs whose texts were purged and runs imported from HELM stay
    unchanged.
    """
    from agent.runs.rescore import find_lost_rules, rescore_suite

    with site.store() as store:
        store.runs.require_suite(suite)
        lost = find_lost_rules(store, suite, scoring)
        if lost and not replace:
            raise ConfigError(
                "this would drop the scores "
                + ", ".join(
                    f"by {RULES[rules]} from {format_count(count, 'run')}"
                    for rules, count in lost.items()
                )
                + f" of suite {suite}",
                "Give --scoring both to keep both, or --replace.",
            )
        outcomes = rescore_suite(store, suite, scoring, site.means)
    rows = _build_change_rows(outcomes, only_changed=form == "table" and not all_metrics)
    columns = {
        "run": "Run",
        "metric": "Metric",
        "before": "Before",
        "after": "After",
        "changed": "Changed",
    }
    if rows or form != "table":
        columns |= {"instances": "Instances"}
        shown = fitting(rows, columns, ("instances", "changed")) if form == "table" else columns
        show_rows(rows, shown, form, title=f"Suite {suite}")
    for outcome in outcomes:
        if outcome.left:
            click.echo(f"{outcome.run.name}: unchanged: {outcome.left}", err=True)
    rescored = sum(not outcome.left for outcome in outcomes)
    changed = sum(any(change.changed for change in outcome.changes) for outcome in outcomes)
    click.echo(
        f"{rescored} of {len(outcomes)} runs scored again, {changed} with changes; no model was asked",
        err=True,
    )
    for rules, count in lost.items():
        click.echo(
            f"dropped the scores by {RULES[rules]} from {format_count(count, 'run')}", err=True
        )


def _build_change_rows(
    outcomes: "Sequence[Rescored]", *, only_changed: bool
) -> list[dict[str, Any]]:
    """Return one row for each run and metric with the scores before and after."""
    rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        for change in outcome.changes:
            if only_changed and not change.changed:
                continue
            rows.append(
                {
                    "run": outcome.run.name,
                    "metric": change.metric,
                    "before": change.before,
                    "after": change.after,
                    "changed": change.changed,
                    "instances": change.instances,
                }
            )
    return rows


@click.command()
@click.argument("benchmark")
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    help="Dataset: a file, or a folder of official files (default for your own benchmarks: their own file).",
)
@click.option(
    "--answers",
    type=EXISTING_FILE,
    help='Answers: one {"instance_id": ..., "answer": ...} per line.',
)
@click.option(
    "--write-template",
    "template",
    type=FILE,
    help="Write a new file with one line per instance, in which to fill in answers; score nothing.",
)
@click.option(
    "--judgements",
    type=EXISTING_FILE,
    help='Replies of judges asked elsewhere: one {"instance_id": ..., "judge": ..., "reply": ...} per line.',
)
@click.option(
    "--judges",
    type=EXISTING_FILE,
    help="The jury, in the form of judges.yaml (default: all judges in --judgements).",
)
@click.option(
    "--write-judge-prompts",
    "prompts",
    type=FILE,
    help="Write a new file with the judges' prompt for each answer in --answers; score nothing.",
)
@click.option("--scoring", type=SCORING, help="Rules to use (default: the benchmark's).")
@click.option(
    "--parser",
    type=click.Choice(["json", "pattern", "option_letter", "text"]),
    help="How to find the answer in the text: json (a field of the last JSON object; without --answer-field, its key "
    "answer, answer_choice, final_answer or the like), pattern (a regular expression), option_letter or text (the "
    "whole text) (default: the benchmark's).",
)
@click.option(
    "--answer-field",
    metavar="NAME",
    help="The JSON field that holds the answer (with --parser json).",
)
@click.option(
    "--answer-pattern",
    metavar="REGEX",
    help="The regular expression whose group 1, or whole match, is the answer (with --parser pattern).",
)
@click.option(
    "--ids",
    type=click.Choice(["data", "helm"]),
    default="data",
    show_default=True,
    help="Which ids the answers and judgements have: those of the data, or those of a HELM run (id14).",
)
@click.option(
    "--out",
    type=FILE,
    metavar="FILE.csv|jsonl",
    help="Write a new file that only you can read: what was read from each answer, by which rule, and its scores. The "
    "values read may hold patient text.",
)
@format_option("csv")
@click.pass_obj
def score(
    site: Site,
    benchmark: str,
    data: Path | None,
    answers: Path | None,
    template: Path | None,
    judgements: Path | None,
    judges: Path | None,
    prompts: Path | None,
    scoring: "ScoringChoice | None",
    parser: str | None,
    answer_field: str | None,
    answer_pattern: str | None,
    ids: str,
    out: Path | None,
    form: str,
) -> None:
    """Score answers that were produced elsewhere.

    Prints the summary of every metric and stores nothing. BENCHMARK is an id, with any arguments
    (`clear:condition=homelessness`), or the YAML file of a benchmark or its folder. An instance without an answer is
    unscored (not_asked) and listed; an id that is not in the data is an error.

    The instance_id is the value of the data's id column or, without one, the row's number in the file: the first row
    of data is 1, and rows that are empty or left out count. --write-template writes all of them to a file that only you
    can read, because they may be ids of patients. `benchmarks template` writes the questions as well.

    With --ids helm, the instance_id is that of a run of MedHELM, such as id14. It is accepted for the benchmarks whose
    instances have a known order in HELM, and refused for the others.

    If a jury grades the answers, --judgements reads the replies of judges that were asked elsewhere, by the same rules
    as for judges asked here. A second line from the same judge for the same answer is its corrected reply, given
    after its first could not be parsed. --write-judge-prompts writes the prompts for the judges, with questions and
    answers in plain text, to a file that only you can read.
    """
    from agent.catalog.parser_choice import read_parser_choice
    from agent.runs.score_file import (
        JudgedElsewhere,
        score_answers,
        write_judge_prompts,
        write_template,
    )

    if (answers is None) == (template is None) or (template and (judgements or judges or prompts)):
        raise click.UsageError(
            "give --answers to score answers, or --write-template to create a file to fill in"
        )
    if out and (template or prompts):
        raise click.UsageError("--out is only for scoring answers; leave it out")
    if template and ids == "helm":
        raise click.UsageError(
            "--ids helm is only for --answers; --write-template always writes the ids of the data"
        )
    if judges is not None and judgements is None:
        raise click.UsageError("--judges names the jury of --judgements; give both")
    if template is not None:
        count = write_template(site.own_benchmarks, benchmark, data, template)
        click.echo(
            f"{format_count(count, 'instance')} written to {template.name}; fill in each answer"
        )
        return
    assert answers is not None
    choice = read_parser_choice(parser, answer_field, answer_pattern)
    if prompts is not None:
        if judgements is not None:
            raise click.UsageError(
                "give --judgements to score the answers, or --write-judge-prompts"
            )
        written = write_judge_prompts(
            site.own_benchmarks,
            benchmark,
            data,
            answers,
            prompts,
            choice,
            helm_ids=ids == "helm",
        )
        click.echo(
            f"{format_count(written.count, 'prompt')} written to {prompts.name}; they contain questions and "
            "answers in plain text"
        )
        _show_warning(written.warning)
        return
    judged = None if judgements is None else JudgedElsewhere(judgements, judges)
    scored = score_answers(
        site.own_benchmarks,
        benchmark,
        data,
        answers,
        scoring,
        judged=judged,
        parser=choice,
        helm_ids=ids == "helm",
        means=site.means,
        out=out,
    )
    _show_warning(scored.warning)
    summary = scored.summary
    if form == "json":
        rows = build_summary_rows([summary], all_metrics=True)
        show_rows([{**row, "missing": list(scored.missing)} for row in rows], {}, form)
    else:
        show_summaries([summary], True, form, f"Benchmark {summary.run.benchmark}")
    _report_unread(site, scored, is_overridden=choice.is_set)
    if scored.missing:
        shown = ", ".join(scored.missing[:MISSING_SHOWN])
        more = len(scored.missing) - MISSING_SHOWN
        click.echo(
            f"without an answer: {shown}{f' and {more} more (all with --format json)' if more > 0 else ''}",
            err=True,
        )


def _report_unread(site: Site, scored: "ScoredAnswers", *, is_overridden: bool) -> None:
    run = scored.summary.run
    main = run.details.metrics[0].name
    adviser = Adviser(is_run=False, is_overridden=is_overridden)
    report_unread(run.benchmark, scored.unread, main, ExampleRedactor(site), adviser)


def _show_warning(warning: str) -> None:
    if warning:
        click.secho(f"warning: {warning}", fg="yellow", err=True)
