"""Commands around benchmarks: `benchmarks list|show|new|check|scorecard`."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.catalog.new_benchmark import KINDS
from agent.cli.jury_terms import asked_of_judge, jury_lines, jury_metric, jury_terms
from agent.cli.options import FILE, format_option
from agent.cli.output import show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.io.wording import counted
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.arguments import Argument
    from agent.catalog.benchmark import Benchmark
    from agent.datasets.manage.examine import DatasetContents
    from agent.metrics import MetricUse
    from agent.vocabulary import Instance, Message

MOST_CLASSES = 12
"""More different right answers than this are counted, not listed."""


@click.group()
def benchmarks() -> None:
    """List, show, make and check benchmarks."""


@benchmarks.command("list")
@format_option()
@click.pass_obj
def list_benchmarks(site: Site, form: str) -> None:
    """List benchmarks by category, and whether their data is here.

    With access level and main metric.
    """
    from agent.catalog.benchmark import survey_benchmarks
    from agent.catalog.taxonomy import taxonomy

    found, broken = survey_benchmarks(site.own_benchmarks)
    order = [*taxonomy(), ""]
    rows = [_row(site, benchmark) for benchmark in found.values()]
    rows.sort(key=lambda row: order.index(row["category"]))
    rows += [
        {"id": one.names[0] if one.names else one.path.name, "data": "broken", "data_detail": str(one.error)}
        for one in broken
    ]
    columns = {"id": "Id", "display_name": "Name", "access": "Access", "metric": "Main metric", "data": "Data"}
    if form == "table":
        for category in dict.fromkeys(row.get("category", "") for row in rows):
            of_category = [row for row in rows if row.get("category", "") == category]
            show_rows(of_category, columns, form, title=f"{category or 'No category'} ({len(of_category)})")
        ready = sum(row["data"] == "ready" for row in rows)
        click.echo(f"{len(rows)} benchmarks, data ready for {ready}; {with_site('see `intramural datasets list`')}")
    else:
        show_rows(rows, columns, form)
    for one in broken:
        click.echo(f"broken: {printable(str(one.error))}", err=True)


def _row(site: Site, benchmark: "Benchmark") -> dict[str, Any]:
    from agent.datasets.manage.register import check_data

    state = check_data(benchmark, site.data)
    return {
        "id": benchmark.id,
        "display_name": benchmark.display_name,
        "category": benchmark.category,
        "access": benchmark.access,
        "metric": benchmark.main_metric.name,
        "helm_metric": benchmark.main_metric.helm_name or benchmark.main_metric.name,
        "data": state.state,
        "data_detail": state.detail,
    }


@benchmarks.command("show")
@click.argument("benchmark_id", metavar="ID")
@format_option()
@click.pass_obj
def show_benchmark(site: Site, benchmark_id: str, form: str) -> None:
    """Show everything about one benchmark."""
    from agent.catalog.run_entries import benchmark_named

    benchmark = benchmark_named(benchmark_id, site.own_benchmarks)
    row = _row(site, benchmark) | _details(benchmark)
    if form == "json":
        show_rows([row], {}, "json")
        return
    files = row.pop("files")
    row.pop("jury")
    for key, value in row.items():
        click.echo(f"{key.replace('_', ' '):22}{printable(_line(value))}")
    if use := jury_metric(benchmark):
        click.echo()
        for line in jury_lines(use):
            click.echo(printable(line))
        click.echo(with_site(f"  what a judge is asked: `intramural benchmarks check {benchmark.id} --rows 1`"))
    if files:
        click.echo(f"\nThe official files, for data/{benchmark.id}/ of the site:")
    for file in files:
        click.echo(f"  {file['name']}{'  (may be absent)' if file['optional'] else ''}")
        for version in file["versions"]:
            named = f"{version['version'] or 'known version'}: {version['rows'] or '?'} instances"
            click.echo(f"    {named}  SHA-256 {version['sha256']}")
            click.echo(f"    {version['url'] or 'no public address'}")
        if not file["versions"]:
            click.echo(f"    {file['rows'] or '?'} instances, no version is known by its digest")


def _details(benchmark: "Benchmark") -> dict[str, Any]:
    few_shot, shorten, gold = benchmark.few_shot, benchmark.shorten, benchmark.gold
    graded = jury_metric(benchmark)
    return {
        "subcategory": benchmark.subcategory,
        "description": benchmark.description,
        "unit": benchmark.unit,
        "unit_column": benchmark.unit_column,
        "lineage": benchmark.lineage,
        "max_tokens": benchmark.max_tokens,
        "reasoning_max_tokens": benchmark.reasoning_max_tokens,
        "helm_max_tokens": benchmark.helm_max_tokens,
        "metrics": [_metric(use) for use in benchmark.metrics],
        "jury": jury_terms(graded) if graded else None,
        "parser": " ".join(filter(None, (benchmark.parser, benchmark.answer_field, benchmark.answer_pattern))),
        "scoring": benchmark.scoring,
        "choices": list(benchmark.choices.texts or benchmark.choices.columns) if benchmark.choices else None,
        "gold": f"{gold.form} in column {gold.column}" if gold else None,
        "examples_in_prompt": few_shot.count if few_shot else 0,
        "system_prompt": bool(benchmark.system_template),
        "messages_column": benchmark.messages_column,
        "shorten": f"{shorten.column}, its {shorten.keep} stays" if shorten else None,
        "subgroups": dict(benchmark.subgroup_columns) or None,
        "arguments": {name: _argument(argument) for name, argument in benchmark.arguments.items()} or None,
        "aliases": list(benchmark.aliases) or None,
        "agreement": " ".join(filter(None, (benchmark.agreement, benchmark.agreement_url))),
        "loader": benchmark.loader,
        "loader_options": dict(benchmark.data_options) or None,
        "sample": _sample(benchmark),
        "source": benchmark.source_url,
        "commit": benchmark.source_commit,
        "files": [
            {
                "name": file.name,
                "rows": file.rows,
                "optional": file.optional,
                "versions": [
                    {
                        "version": version.label,
                        "name": version.name or file.name,
                        "rows": version.rows,
                        "sha256": version.sha256,
                        "url": version.url,
                    }
                    for version in file.known
                ],
            }
            for file in benchmark.files
        ],
        "licence": benchmark.licence,
        "citation": benchmark.citation,
        "helm_scenario": benchmark.helm_scenario,
        "helm_groups": list(benchmark.helm_groups) or None,
        "digest": benchmark.digest,
    }


def _metric(use: "MetricUse") -> str:
    helm = f" (HELM: {use.helm_name})" if use.helm_name and use.helm_name != use.name else ""
    criteria = f" [{', '.join(use.criteria)}]" if use.criteria else ""
    return f"{use.name}{helm}{criteria}"


def _argument(argument: "Argument") -> str:
    allowed = "|".join(argument.values) or ("number of tokens" if argument.kind == "tokens" else "any text")
    default = "required" if argument.required else f"default {argument.default!r}" if argument.default else "optional"
    return f"{allowed} ({default})"


def _sample(benchmark: "Benchmark") -> str | None:
    if benchmark.sample is None:
        return None
    kind = "invented records" if benchmark.sample_is_invented else "real records"
    of = ", ".join(f"{name}={value}" for name, value in benchmark.sample_arguments.items())
    return f"{benchmark.sample.rows or '?'} {kind}{f' of {of}' if of else ''}"


def _line(value: Any) -> str:
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return "; ".join(f"{key}: {_line(inner)}" for key, inner in value.items())
    return str(value)


@benchmarks.command("new")
@click.argument("name", metavar="NAME")
@click.option("--kind", type=click.Choice(KINDS), default=KINDS[0], show_default=True, help="Form of the answers.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A new folder [default: benchmarks/NAME of the site, or NAME here where there is no site].",
)
@click.pass_obj
def new_benchmark(site: Site, name: str, kind: str, out: Path | None) -> None:
    """Write an example benchmark to change.

    Definition, prompt and a few rows of data.
    """
    from agent.catalog.benchmark import survey_benchmarks
    from agent.catalog.new_benchmark import write_new_benchmark

    found, _ = survey_benchmarks(site.own_benchmarks)
    if any(name in (known.id, *known.aliases) for known in found.values()):
        raise ConfigError(f"there is a benchmark {name!r} already", "Choose another name.")
    of_site = out is None and site.own_benchmarks is not None
    folder = out or (site.own_benchmarks or Path()) / name
    for path in write_new_benchmark(name, kind, folder):
        click.echo(path)
    entry = name if of_site else f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
    click.echo("Change them to what you need, then check and run:")
    click.echo(with_site(f"  intramural benchmarks check {shlex.quote(str(folder))}"))
    entry += f"{',' if ':' in entry else ':'}model=MODEL"
    click.echo(with_site(f"  intramural run --run-entries {shlex.quote(entry) if ' ' in entry else entry}"))


@benchmarks.command("check")
@click.argument("place", metavar="PATH|ID", type=click.Path(path_type=Path))
@click.option("--rows", type=click.IntRange(0, 1000), default=2, show_default=True, help="Number of prompts to show.")
@click.pass_obj
def check_benchmark(site: Site, place: Path, rows: int) -> None:
    """Check a definition and all of its data.

    The first prompts are shown as a model would get them; where a jury grades answers, the first judge's prompt too.
    PATH is a folder with a benchmark.yaml, or a YAML file; ID is that of a benchmark that is known here. Every
    error is named at once, with file and row; also a right answer that the main metric cannot use. The prompts
    are the records themselves, not redacted: this command is for their author, at the author's own terminal.
    """
    from agent.catalog.run_entries import benchmark_named
    from agent.datasets.manage.check import check_benchmark, read_data

    if place.exists():
        benchmark, examined = check_benchmark(place, site.data, site.own_benchmarks, keep=rows)
    else:
        try:
            benchmark = benchmark_named(str(place), site.own_benchmarks)
        except ConfigError as why:
            raise ConfigError(f"{place} is no file or folder here, and {why}", why.advice) from None
        examined = read_data(benchmark, site.data, keep=rows)
    count, characters = examined.instances, examined.characters
    click.echo(f"{benchmark.id}: {count} instances of {benchmark.unit}, {_origin(benchmark, examined.known)}")
    for part, number in examined.parts.items() if any(examined.parts) else ():
        click.echo(f"  {part}  {number}")
    click.echo(f"right answers: {_balance(benchmark, examined)}")
    click.echo(
        f"expected tokens (characters / 4): {characters // 4 // count} a prompt, {examined.longest // 4} the longest, "
        f"{characters // 4} in all"
    )
    thinking = f"{benchmark.reasoning_max_tokens} of models that think first"
    click.echo(f"answers: at most {benchmark.max_tokens} tokens, or {thinking}")
    click.echo(f"metrics: {', '.join(_metric(use) for use in benchmark.metrics)}")
    graded = jury_metric(benchmark)
    for line in jury_lines(graded) if graded else ():
        click.echo(printable(line))
    for problem in examined.problems:
        click.secho(f"warning: {problem}", fg="yellow", err=True)
    if rows:
        click.echo(f"The first {counted(len(examined.first), 'prompt')}, not redacted:")
    for instance in examined.first:
        _show_instance(instance)
    if graded and examined.first:
        click.secho(f"\n--- what a judge is asked about instance {printable(examined.first[0].id)} ---", bold=True)
        _show_messages(asked_of_judge(graded, examined.first[0]))


def _origin(benchmark: "Benchmark", known: str) -> str:
    if benchmark.dataset_file is not None:
        return f"from {benchmark.dataset_file.name}"
    words = {"official": "the known version", "unknown": "an unknown version", "sample": "from the sample"}
    return words.get(known, "from the invented sample")


def _balance(benchmark: "Benchmark", examined: "DatasetContents") -> str:
    counts = examined.letters
    if benchmark.choices and benchmark.choices.texts:
        counts = {f"{letter} ({benchmark.choices.texts[ord(letter) - 65]})": n for letter, n in counts.items()}
    if not counts and len(examined.gold) <= min(MOST_CLASSES, examined.instances - 1):
        counts = {text if len(text) <= 40 else text[:40] + "...": n for text, n in examined.gold.items()}
    if counts:
        return ", ".join(f"{printable(word)} {n}" for word, n in counts.items())
    return f"{len(examined.gold)} different texts" if examined.gold else "very many different texts, or none"


def _show_messages(messages: "Sequence[Message]") -> None:
    for message in messages:
        click.secho(f"[{message.role}]", bold=True)
        click.echo(printable(message.content))


def _show_instance(instance: "Instance") -> None:
    click.secho(f"\n--- instance {printable(instance.id)}, unit {printable(instance.unit)} ---", bold=True)
    _show_messages(instance.messages)
    for i, reference in enumerate(instance.references):
        letter = f"{chr(ord('A') + i)}. " if instance.multiple_choice else ""
        if reference.correct:
            click.secho("[right answer]", bold=True)
            click.echo(f"{letter}{printable(reference.text)}")
    for name, value in instance.subgroups.items():
        click.echo(f"[{printable(name)}] {printable(value)}")


@benchmarks.command("scorecard")
@click.argument("benchmark_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--name", required=True, help="Name of the scorecard, for example medhelm-public.")
@click.option(
    "--version",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Version; must be higher than the one before.",
)
@click.option(
    "--subgroup",
    "subgroups",
    multiple=True,
    metavar="ID:VARIABLE=VALUE,...",
    help="Report groups of units beside all of them; may be repeated.",
)
@click.option(
    "--judges",
    type=FILE,
    help="Register this jury for the metrics that judges grade: a file like judges.yaml.",
)
@click.option("--out", type=FILE, required=True, help="A new file.")
@click.pass_obj
def write_scorecard(
    site: Site,
    benchmark_ids: Sequence[str],
    name: str,
    version: int,
    subgroups: Sequence[str],
    judges: Path | None,
    out: Path,
) -> None:
    """Write a scorecard of these benchmarks.

    It is for the central team to register with the aggregator.
    """
    from agent.catalog.judges import read_jury
    from agent.catalog.run_entries import benchmark_named
    from agent.disclosure.scorecard import draft_scorecard, left_out, parse_subgroups

    jury = read_jury(judges) if judges else None
    chosen = [benchmark_named(benchmark_id, site.own_benchmarks) for benchmark_id in benchmark_ids]
    scorecard = draft_scorecard(name, version, chosen, parse_subgroups(subgroups), jury=jury)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(json.dumps(scorecard.to_json(), indent=2, sort_keys=True) + "\n")
    except OSError as error:
        raise ConfigError(f"the scorecard cannot be written ({error.strerror})", "Name a new file.") from None
    for notice in left_out(chosen, jury):
        click.echo(f"note: {notice}", err=True)
    click.echo(f"{len(scorecard.cells)} cells of {len(chosen)} benchmarks, digest {scorecard.digest[:16]}")
