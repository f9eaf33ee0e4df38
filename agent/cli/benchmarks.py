"""Commands about benchmarks: `benchmarks list|show|new|check|scorecard`."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.catalog.new_benchmark import KINDS, PYTHON_METRIC
from agent.cli.answers_template import write_answers_template
from agent.cli.jury_terms import (
    build_jury_terms,
    describe_jury,
    find_jury_metric,
    write_judge_example,
)
from agent.cli.options import FILE, format_option
from agent.cli.output import show_rows, with_site
from agent.errors import BenchmarkError, ConfigError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.arguments import Argument
    from agent.catalog.benchmark import Benchmark
    from agent.catalog.data_section import DataFile
    from agent.datasets.manage.examine import DatasetContents
    from agent.metrics import MetricUse
    from agent.vocabulary import Instance, Message

MAX_CLASSES = 12
"""Maximum number of distinct right answers to list; a larger number is only counted."""
CHARACTERS_A_TOKEN = 4
MAX_CLASS_LENGTH = 40  # maximum characters of a right answer that is listed
LIST_COLUMNS = {
    "id": "Id",
    "display_name": "Name",
    "access": "Access",
    "metric": "Main metric",
    "data": "Data",
}


@click.group()
def benchmarks() -> None:
    """List, show, create and check benchmarks."""


benchmarks.add_command(write_answers_template)


@benchmarks.command("list")
@format_option()
@click.pass_obj
def list_benchmarks(site: Site, form: str) -> None:
    """List benchmarks by category, with access level and main metric.

    Also shows whether the site has the data of each benchmark.
    """
    from agent.catalog.benchmark import survey_benchmarks
    from agent.catalog.taxonomy import taxonomy

    readable, broken = survey_benchmarks(site.own_benchmarks)
    order = [*taxonomy(), ""]
    rows = [_build_row(site, benchmark) for benchmark in readable.values()]
    rows.sort(key=lambda row: order.index(row["category"]))
    for definition in broken:
        name = definition.names[0] if definition.names else definition.path.name
        rows.append({"id": name, "data": "broken", "data_detail": str(definition.error)})
    if form == "table":
        _show_categories(rows)
        ready = sum(row["data"] == "ready" for row in rows)
        click.echo(
            f"{len(rows)} benchmarks, data ready for {ready}; {with_site('see `intramural datasets list`')}"
        )
    else:
        show_rows(rows, LIST_COLUMNS, form)
    for definition in broken:
        click.echo(f"broken: {printable(str(definition.error))}", err=True)


def _show_categories(rows: "Sequence[dict[str, Any]]") -> None:
    """Print a table for each category, in the order of its first row."""
    rows_by_category: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        category = row.get("category") or "No category"
        rows_by_category.setdefault(category, []).append(row)
    for category, category_rows in rows_by_category.items():
        show_rows(category_rows, LIST_COLUMNS, "table", title=f"{category} ({len(category_rows)})")


def _build_row(site: Site, benchmark: "Benchmark") -> dict[str, Any]:
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
    """Show a benchmark's definition, data files and their versions."""
    from agent.catalog.run_entries import find_named_benchmark

    benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
    row = _build_row(site, benchmark) | _build_details(benchmark)
    if form == "json":
        show_rows([row], {}, "json")
        return
    files = row.pop("files")
    row.pop("jury")
    for key, value in row.items():
        click.echo(f"{key.replace('_', ' '):22}{printable(_format_value(value))}")
    _print_jury(benchmark)
    if files:
        click.echo(f"\nThe official files, for data/{benchmark.id}/ of the site:")
    for file in files:
        _print_file(file)


def _print_jury(benchmark: "Benchmark") -> None:
    use = find_jury_metric(benchmark)
    if use is None:
        return
    click.echo()
    for line in describe_jury(use):
        click.echo(printable(line))
    click.echo(
        with_site(f"  what a judge is asked: `intramural benchmarks check {benchmark.id} --rows 1`")
    )


def _print_file(file: Mapping[str, Any]) -> None:
    click.echo(f"  {file['name']}{'  (may be absent)' if file['optional'] else ''}")
    for version in file["versions"]:
        name = version["version"] or "known version"
        click.echo(f"    {name}: {version['rows'] or '?'} instances  SHA-256 {version['sha256']}")
        click.echo(f"    {version['url'] or 'no public URL'}")
    if not file["versions"]:
        click.echo(f"    {file['rows'] or '?'} instances, no version with a known digest")


def _build_details(benchmark: "Benchmark") -> dict[str, Any]:
    few_shot, shorten, gold = benchmark.few_shot, benchmark.shorten, benchmark.gold
    jury_use = find_jury_metric(benchmark)
    arguments = {
        name: _describe_argument(argument) for name, argument in benchmark.arguments.items()
    }
    return {
        "subcategory": benchmark.subcategory,
        "description": benchmark.description,
        "unit": benchmark.unit,
        "unit_column": benchmark.unit_column,
        "lineage": benchmark.lineage,
        "max_tokens": benchmark.max_tokens,
        "reasoning_max_tokens": benchmark.reasoning_max_tokens,
        "helm_max_tokens": benchmark.helm_max_tokens,
        "metrics": [_describe_metric(use) for use in benchmark.metrics],
        "jury": build_jury_terms(jury_use) if jury_use else None,
        "parser": _join_words(
            benchmark.parser,
            benchmark.answer_field,
            benchmark.answer_pattern,
            ", ".join(label for label, *_ in benchmark.labels),
        ),
        "scoring": benchmark.scoring,
        "choices": list(benchmark.choices.texts or benchmark.choices.columns)
        if benchmark.choices
        else None,
        "gold": f"{gold.form} in column {gold.column}" if gold else None,
        "examples_in_prompt": few_shot.count if few_shot else 0,
        "system_prompt": bool(benchmark.system_template),
        "messages_column": benchmark.messages_column,
        "shorten": f"{shorten.column}, keeping its {shorten.keep}" if shorten else None,
        "subgroups": dict(benchmark.subgroup_columns) or None,
        "arguments": arguments or None,
        "aliases": list(benchmark.aliases) or None,
        "agreement": _join_words(benchmark.agreement, benchmark.agreement_url),
        "loader": benchmark.loader,
        "loader_options": dict(benchmark.data_options) or None,
        "sample": _describe_sample(benchmark),
        "source": benchmark.source_url,
        "commit": benchmark.source_commit,
        "files": [_build_file(file) for file in benchmark.files],
        "licence": benchmark.licence,
        "citation": benchmark.citation,
        "helm_scenario": benchmark.helm_scenario,
        "helm_groups": list(benchmark.helm_groups) or None,
        "digest": benchmark.digest,
    }


def _build_file(file: "DataFile") -> dict[str, Any]:
    versions = []
    for version in file.known:
        versions.append(
            {
                "version": version.label,
                "name": version.name or file.name,
                "rows": version.rows,
                "sha256": version.sha256,
                "url": version.url,
            }
        )
    return {"name": file.name, "rows": file.rows, "optional": file.optional, "versions": versions}


def _join_words(*words: str | None) -> str:
    return " ".join(word for word in words if word)


def _describe_metric(use: "MetricUse") -> str:
    helm = f" (HELM: {use.helm_name})" if use.helm_name and use.helm_name != use.name else ""
    criteria = f" [{', '.join(use.criteria)}]" if use.criteria else ""
    return f"{use.name}{helm}{criteria}"


def _describe_argument(argument: "Argument") -> str:
    allowed = "|".join(argument.values)
    if not allowed:
        allowed = "number of tokens" if argument.kind == "tokens" else "any text"
    if argument.required:
        return f"{allowed} (required)"
    if argument.default:
        return f"{allowed} (default {argument.default!r})"
    return f"{allowed} (optional)"


def _describe_sample(benchmark: "Benchmark") -> str | None:
    if benchmark.sample is None:
        return None
    kind = "invented records" if benchmark.sample_is_invented else "real records"
    arguments = ", ".join(f"{name}={value}" for name, value in benchmark.sample_arguments.items())
    scope = f" of {arguments}" if arguments else ""
    return f"{benchmark.sample.rows or '?'} {kind}{scope}"


def _format_value(value: Any) -> str:
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return "; ".join(f"{key}: {_format_value(inner)}" for key, inner in value.items())
    return str(value)


@benchmarks.command("new")
@click.argument("name", metavar="NAME")
@click.option(
    "--kind",
    type=click.Choice([*KINDS, PYTHON_METRIC]),
    default=KINDS[0],
    show_default=True,
    help=f"Form of the answers; {PYTHON_METRIC} writes a metric of your own instead of a benchmark.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A new folder, or a metric's new file [default: benchmarks/NAME or plugins/NAME.py in the site; without a "
    "site, NAME or plugins/NAME.py in the current directory].",
)
@click.pass_obj
def new_benchmark(site: Site, name: str, kind: str, out: Path | None) -> None:
    """Write an example benchmark as a starting point.

    It consists of a definition, a prompt and a few rows of data. With --kind python-metric, write an example of a
    metric in Python to plugins/NAME.py.
    """
    if kind == PYTHON_METRIC:
        _write_new_metric(site, name, out)
        return
    from agent.catalog.benchmark import survey_benchmarks
    from agent.catalog.new_benchmark import write_new_benchmark

    benchmarks_here, _ = survey_benchmarks(site.own_benchmarks)
    for benchmark in benchmarks_here.values():
        if name == benchmark.id or name in benchmark.aliases:
            raise ConfigError(f"there is a benchmark {name!r} already", "Choose another name.")
    folder = out or (site.own_benchmarks or Path()) / name
    for path in write_new_benchmark(name, kind, folder):
        click.echo(path)
    is_of_site = out is None and site.own_benchmarks is not None
    if is_of_site:
        entry = f"{name}:model=MODEL"
    else:  # outside the site, a run entry must give the benchmark's path
        entry = (
            f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'},model=MODEL"
        )
    click.echo("Adapt these files, then check and run the benchmark:")
    click.echo(with_site(f"  intramural benchmarks check {shlex.quote(str(folder))}"))
    click.echo(
        with_site(f"  intramural run --run-entries {shlex.quote(entry) if ' ' in entry else entry}")
    )


def _write_new_metric(site: Site, name: str, out: Path | None) -> None:
    from agent.catalog.new_benchmark import write_new_metric

    folder = site.plugins if site.own_benchmarks is not None else Path("plugins")
    metric = write_new_metric(name, out or folder / f"{name}.py")
    click.echo(metric.path)
    click.echo(
        "Adapt and review it. To enable it, add to site.yaml, with its sha256 after your changes:"
    )
    click.echo("plugins:")
    file = f"plugins/{metric.path.name}"
    click.echo(f"  - {{name: {name}, file: {file}, sha256: {metric.sha256}}}")
    click.echo("and to the benchmark's YAML:")
    click.echo("metrics:")
    click.echo(f"  - name: own/{name}")
    click.echo(with_site("`intramural doctor` checks it and prints the sha256 that it has now."))


@benchmarks.command("check")
@click.argument("place", metavar="PATH|ID", type=click.Path(path_type=Path))
@click.option(
    "--rows",
    type=click.IntRange(0, 1000),
    default=2,
    show_default=True,
    help="Number of prompts to show.",
)
@click.pass_obj
def check_benchmark(site: Site, place: Path, rows: int) -> None:
    """Check a benchmark's definition and all of its data.

    Shows the first prompts as a model would get them and, if a jury grades the answers, the first judge's prompt.
    PATH is a folder with a benchmark.yaml, or a YAML file; ID is the id of a benchmark known to this site. All errors
    are reported at once with file and row, including right answers that the main metric cannot use. The
    instructions and the prompt file are searched for identifiers. The prompts are not redacted, so this command is for
    the benchmark's author only.
    """
    # One instance is needed even if no prompt is shown: its fixed text is searched.
    benchmark, contents = _read_contents(site, place, max(rows, 1))
    shown = contents.first[:rows]
    _print_size(benchmark, contents)
    click.echo(f"metrics: {', '.join(_describe_metric(use) for use in benchmark.metrics)}")
    jury_use = find_jury_metric(benchmark)
    if jury_use is not None:
        for line in describe_jury(jury_use):
            click.echo(printable(line))
    problems = [*contents.problems, *_check_own_metrics(site, benchmark)]
    problems += _search_fixed_text(site, contents.first)
    for problem in problems:
        click.secho(f"warning: {problem}", fg="yellow", err=True)
    if rows:
        click.echo(f"The first {format_count(len(shown), 'prompt')}, not redacted:")
    for instance in shown:
        _show_instance(instance)
    if jury_use is not None and shown:
        instance = shown[0]
        click.secho(
            f"\n--- the judge's prompt for instance {printable(instance.id)} ---", bold=True
        )
        _show_messages(write_judge_example(jury_use, instance))


def _search_fixed_text(site: Site, instances: "Sequence[Instance]") -> Iterator[str]:
    """Yield a warning if the benchmark's own text, which redaction would show as it is, contains identifiers."""
    from agent.redaction import open_redactor
    from agent.redaction.gateway.cells import count_in_fixed_text, find_unshipped_text

    if not instances or not find_unshipped_text(instances[0]):
        return
    if (site.directory / "site.yaml").is_file():
        redactor = open_redactor(site.settings.redaction_policy, site.directory)
    else:
        redactor = open_redactor()
    counts = count_in_fixed_text(instances[0], redactor)
    if counts is None:
        yield "the instructions and the prompt file cannot be redacted safely, so people see none of the prompts"
    elif counts:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
        yield (
            f"the instructions and the prompt file contain what may identify a person ({kinds}): redaction searches "
            "this benchmark's prompts whole, so option letters and labels may be lost. Does the prompt file hold a "
            "real case?"
        )


def _check_own_metrics(site: Site, benchmark: "Benchmark") -> Iterator[str]:
    """Yield a warning for each own metric whose code is there but not enabled yet.

    Raises:
        BenchmarkError: the site has no own metric of that name.
    """
    from agent.metrics.own import find_source, has_file
    from agent.own_metrics.declaration import is_own

    own_metrics = [use.name for use in benchmark.metrics if is_own(use.name)]
    if own_metrics and not (site.directory / "site.yaml").is_file():
        yield f"{', '.join(own_metrics)} cannot be checked, because {site.directory} is not a site"
        return
    for name in own_metrics:
        try:
            find_source(name, site.means)
        except BenchmarkError as error:
            if not has_file(name, site.means):
                raise
            yield str(error)


def _read_contents(site: Site, place: Path, rows: int) -> "tuple[Benchmark, DatasetContents]":
    """Read a benchmark and all of its data, keeping the first rows. Raises ConfigError if none is found."""
    from agent.catalog.run_entries import find_named_benchmark
    from agent.datasets.manage.check import check_benchmark, read_data

    if place.exists():
        return check_benchmark(place, site.data, site.own_benchmarks, keep=rows)
    try:
        benchmark = find_named_benchmark(str(place), site.own_benchmarks)
    except ConfigError as error:
        raise ConfigError(
            f"{place} is not a file or folder here, and {error}", error.advice
        ) from None
    return benchmark, read_data(benchmark, site.data, keep=rows)


def _print_size(benchmark: "Benchmark", contents: "DatasetContents") -> None:
    """Print the number of instances, the right answers and the expected tokens."""
    origin = _describe_origin(benchmark, contents.known)
    click.echo(f"{benchmark.id}: {contents.instances} instances of {benchmark.unit}, {origin}")
    if any(contents.parts):
        for part, number in contents.parts.items():
            click.echo(f"  {part}  {number}")
    click.echo(f"right answers: {_describe_balance(benchmark, contents)}")
    tokens = contents.characters // CHARACTERS_A_TOKEN
    click.echo(
        f"expected tokens (characters / {CHARACTERS_A_TOKEN}): {tokens // contents.instances} per prompt, "
        f"{contents.longest // CHARACTERS_A_TOKEN} the longest, {tokens} in all"
    )
    thinking = f"{benchmark.reasoning_max_tokens} for models that reason before they answer"
    click.echo(f"answers: at most {benchmark.max_tokens} tokens, or {thinking}")


def _describe_origin(benchmark: "Benchmark", known: str) -> str:
    if benchmark.dataset_file is not None:
        return f"from {benchmark.dataset_file.name}"
    words = {
        "official": "from the known version of the data",
        "unknown": "from an unknown version of the data",
        "sample": "from the sample",
    }
    return words.get(known, "from the invented sample")


def _describe_balance(benchmark: "Benchmark", contents: "DatasetContents") -> str:
    """Return how often each option or class is the right answer, or only the number of distinct answers if many."""
    # If nearly every instance has a different right answer, the answers are free texts rather than classes.
    has_classes = len(contents.gold) <= min(MAX_CLASSES, contents.instances - 1)
    counts: dict[str, int] = {}
    if contents.letters:
        for letter, count in contents.letters.items():
            counts[_label_letter(benchmark, letter)] = count
    elif has_classes:
        for text, count in contents.gold.items():
            label = text if len(text) <= MAX_CLASS_LENGTH else f"{text[:MAX_CLASS_LENGTH]}..."
            counts[label] = count
    if counts:
        return ", ".join(f"{printable(label)} {count}" for label, count in counts.items())
    return (
        f"{len(contents.gold)} different texts"
        if contents.gold
        else "none, or too many different texts to count"
    )


def _label_letter(benchmark: "Benchmark", letter: str) -> str:
    """Return the letter of an option, with its text if all instances have the same options."""
    if benchmark.choices is None or not benchmark.choices.texts:
        return letter
    return f"{letter} ({benchmark.choices.texts[ord(letter) - ord('A')]})"


def _show_messages(messages: "Sequence[Message]") -> None:
    for message in messages:
        click.secho(f"[{message.role}]", bold=True)
        click.echo(printable(message.content))


def _show_instance(instance: "Instance") -> None:
    click.secho(
        f"\n--- instance {printable(instance.id)}, unit {printable(instance.unit)} ---", bold=True
    )
    _show_messages(instance.messages)
    for number, reference in enumerate(instance.references):
        letter = f"{chr(ord('A') + number)}. " if instance.multiple_choice else ""
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
    help="Version; must be higher than the previous one.",
)
@click.option(
    "--subgroup",
    "subgroups",
    multiple=True,
    metavar="ID:VARIABLE=VALUE,...",
    help="Also report these subgroups of units; may be repeated.",
)
@click.option(
    "--judges",
    type=FILE,
    help="Register this jury for the metrics graded by judges: a file in the form of judges.yaml.",
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

    The central team registers it with the aggregator.
    """
    from agent.catalog.judges import read_jury
    from agent.catalog.run_entries import find_named_benchmark
    from agent.disclosure.scorecard import draft_scorecard, left_out, parse_subgroups

    jury = read_jury(judges) if judges else None
    selected = []
    for benchmark_id in benchmark_ids:
        benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
        selected.append(replace(benchmark, metrics=_bind_own_metrics(site, benchmark.metrics)))
    scorecard = draft_scorecard(name, version, selected, parse_subgroups(subgroups), jury=jury)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(json.dumps(scorecard.to_json(), indent=2, sort_keys=True) + "\n")
    except OSError as error:
        raise ConfigError(
            f"the scorecard cannot be written ({error.strerror})", "Name a new file."
        ) from None
    for notice in left_out(selected, jury):
        click.echo(f"note: {notice}", err=True)
    click.echo(
        f"{len(scorecard.cells)} cells of {len(selected)} benchmarks, digest {scorecard.digest[:16]}"
    )


def _bind_own_metrics(site: Site, metrics: "Sequence[MetricUse]") -> "tuple[MetricUse, ...]":
    """Return the metrics, with the code of the site's own, whose digests become part of the scorecard."""
    from agent.metrics.own import bind_own_metric, is_own

    bound = []
    for use in metrics:
        bound.append(bind_own_metric(use, site.means) if is_own(use.name) else use)
    return tuple(bound)
