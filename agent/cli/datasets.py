"""Commands about the data of benchmarks: `datasets list|add|fetch|remove|register`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import today_day
from agent.cli.options import dry_run_option, format_option
from agent.cli.output import show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.benchmark import Benchmark
    from agent.datasets.manage.register import AddedData, Attestation, Progress
    from agent.disclosure.registration import Registered


@click.group()
def datasets() -> None:
    """List, add, fetch, remove and register data of benchmarks."""


@datasets.command("list")
@format_option()
@click.option(
    "--verify",
    is_flag=True,
    help="Read every file in full, even if its size and modification time are as recorded.",
)
@click.pass_obj
def list_datasets(site: Site, form: str, verify: bool) -> None:
    """List benchmarks with the state of their data.

    Shows the next step for each benchmark. A file counts as unchanged if its size and modification time are as
    recorded; --verify reads the contents again, as every run does. For gated and private benchmarks, the list shows
    the registered version and the number of rows that are not registered yet.
    """
    from agent.catalog.benchmark import survey_benchmarks
    from agent.datasets.frozen import describe_registration
    from agent.datasets.manage.register import check_data

    found, broken = survey_benchmarks(site.own_benchmarks)
    rows: list[Mapping[str, object]] = []
    for benchmark in found.values():
        state = check_data(benchmark, site.data, verify=verify)
        is_public = benchmark.access == "public"
        rows.append(
            {
                "id": benchmark.id,
                "access": benchmark.access,
                "state": state.state,
                "instances": state.instances,
                "registered": None if is_public else describe_registration(benchmark, site.data),
                "detail": with_site(state.detail) if form == "table" else state.detail,
            }
        )
    for definition in broken:
        name = definition.names[0] if definition.names else definition.path.name
        rows.append({"id": name, "state": "broken"})
    columns = {
        "id": "Id",
        "access": "Access",
        "state": "State",
        "instances": "Instances",
        "registered": "Registered",
        "detail": "Next step",
    }
    show_rows(rows, columns, form, folds=True)
    for definition in broken:
        click.echo(f"broken: {printable(str(definition.error))}", err=True)


@datasets.command("add")
@click.argument("benchmark_id", metavar="ID")
@click.argument("source", metavar="PATH", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--agreement", metavar="TEXT", help="The agreement under which this site may use the data."
)
@click.option(
    "--attested-by", metavar="NAME", help="Name of the person who attests to the agreement."
)
@click.option("--replace", is_flag=True, help="Replace existing data.")
@click.pass_obj
def add_dataset(
    site: Site,
    benchmark_id: str,
    source: Path,
    agreement: str | None,
    attested_by: str | None,
    replace: bool,
) -> None:
    """Copy a benchmark's data into the site after reading all of it.

    PATH is a file, a folder or an archive (.zip, .tar, .tar.gz) with the official files under their original names.
    If the data has problems, each is reported with file and row, and nothing is added. Each reference answer is also
    checked against the main metric, except in benchmarks that a jury scores or that run queries, and in files of a
    known version. A benchmark with a required argument, such as ehrshot with its 14 subjects, is read once for each
    value.
    """
    from agent.catalog.run_entries import find_named_benchmark
    from agent.datasets.manage.register import add_data

    _ = site.settings  # fails before anything is read if the directory is not a site
    benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
    attestation = _read_attestation(agreement, attested_by)
    with site.store() as store:
        added = add_data(
            benchmark,
            source,
            site.data,
            attestation=attestation,
            replace=replace,
            progress=_say_part(benchmark),
        )
        store.audit.record(
            "data added",
            _format_audit_detail(
                benchmark, added.record.known, added.record.instances, attestation
            ),
        )
    _report(benchmark, added)


def _read_attestation(agreement: str | None, attested_by: str | None) -> "Attestation | None":
    from agent.datasets.manage.register import Attestation
    from agent.io.wording import find_unseen

    if agreement is None and attested_by is None:
        return None
    if not (agreement or "").strip() or not (attested_by or "").strip():
        raise ConfigError("--agreement and --attested-by must be given together")
    assert agreement is not None
    assert attested_by is not None
    if (
        find_unseen(agreement)
        or find_unseen(attested_by)
        or len(agreement) > 500
        or len(attested_by) > 200
    ):
        raise ConfigError("--agreement and --attested-by must each be one short line")
    return Attestation(agreement.strip(), attested_by.strip())


def _format_audit_detail(
    benchmark: "Benchmark", known: str, instances: int, attestation: "Attestation | None"
) -> str:
    by = (
        f" agreement={attestation.agreement!r} attested_by={attestation.by!r}"
        if attestation
        else ""
    )
    return f"benchmark={benchmark.id} version={known} instances={instances}{by}"


@datasets.command("fetch")
@click.argument("benchmark_id", metavar="ID")
@click.option("--replace", is_flag=True, help="Replace existing data.")
@click.pass_obj
def fetch_dataset(site: Site, benchmark_id: str, replace: bool) -> None:
    """Download a public benchmark's data.

    Downloads from the pinned URL, through the site's proxy and CA. A file is kept only if its SHA-256 matches the
    benchmark's definition. No other command downloads data.
    """
    from agent.catalog.run_entries import find_named_benchmark
    from agent.datasets.manage.fetch import FetchSettings, fetch_files, select_pinned_files
    from agent.datasets.manage.register import AddedData, record_data, stage_data

    settings = site.settings
    benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
    files = select_pinned_files(benchmark)
    fetch_settings = FetchSettings(
        proxy=settings.proxy,
        ca_bundle=settings.ca_bundle,
        connect_timeout_s=settings.connect_timeout_s,
    )
    with site.store() as store:
        with stage_data(benchmark, site.data, replace=replace) as folder:
            fetch_files(files, folder, fetch_settings, _Bar())
            record, contents = record_data(benchmark, folder, None, progress=_say_part(benchmark))
        store.audit.record(
            "data fetched", _format_audit_detail(benchmark, record.known, record.instances, None)
        )
    _report(benchmark, AddedData(record, contents, left_out=0))


@datasets.command("remove")
@click.argument("benchmark_id", metavar="ID")
@click.pass_obj
def remove_dataset(site: Site, benchmark_id: str) -> None:
    """Delete a benchmark's data from the site.

    Stored runs with their texts and registered versions of the data stay.
    """
    from agent.catalog.run_entries import find_named_benchmark
    from agent.datasets.manage.register import remove_data

    _ = site.settings  # fails before anything is deleted if the directory is not a site
    benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
    with site.store() as store:
        count = remove_data(benchmark, site.data)
        store.audit.record("data removed", f"benchmark={benchmark.id} files={count}")
    click.echo(f"{benchmark.id}: {format_count(count, 'file')} deleted")


@datasets.command("register")
@click.argument("benchmark_id", metavar="BENCHMARK")
@dry_run_option("Read everything and show what would be registered; write nothing.")
@click.pass_obj
def register_dataset(site: Site, benchmark_id: str, dry_run: bool) -> None:
    """Register a version of a gated or private dataset.

    Results on gated and private data may leave the site only for registered versions.

    Copies the current data, enters keyed fingerprints of its units into the ledger of releases, and drafts a
    statement for the steward to approve. Runs read the newest registered version. A version is refused if it differs
    too little from an earlier one whose results may already be known: register again when more rows have arrived.
    """
    from agent.catalog.run_entries import find_named_benchmark
    from agent.disclosure.drafting import register_dataset as register

    benchmark = find_named_benchmark(benchmark_id, site.own_benchmarks)
    with site.store() as store:
        done = register(
            site, store, benchmark_id, today_day(site), store.audit.record, dry_run=dry_run
        )
    _say_registered(benchmark, done)


def _say_registered(benchmark: "Benchmark", done: "Registered") -> None:
    from agent.disclosure.drafting import describe_candidate

    candidate = done.candidate
    persons = len(candidate.entry.list_persons())
    title = f"{benchmark.id}, version {done.number}" if done.number else f"{benchmark.id} (dry run)"
    click.echo(
        f"{title}: {format_count(persons, 'unit')} in {format_count(candidate.entry.instances, 'row')}"
    )
    for line in describe_candidate(done):
        click.echo(f"  {line}")
    if done.submission is None:
        click.echo("nothing was registered (--dry-run)")
        return
    state = "drafted" if done.is_new else "was already drafted"
    click.echo(
        f"statement {done.submission.digest[:12]} {state}; dataset commitment {candidate.entry.commitment[:12]}"
    )
    for digest in done.dropped:
        if digest != done.submission.digest:
            click.echo(
                f"draft {digest[:12]} was discarded: this version replaces it, or it followed a discarded draft"
            )
    click.echo(
        with_site(
            "Next, the steward reviews it (`intramural submission show`) and approves it. It is sent before, or with, "
            "the first figures of this version."
        )
    )


def _say_part(benchmark: "Benchmark") -> "Progress":
    """Return a callback that reports which part is being read, for datasets that need several passes."""
    return lambda part: click.echo(f"reading {benchmark.id}: {part}", err=True)


class _Bar:
    """The progress of a download, shown on a terminal."""

    def __init__(self) -> None:
        self._shown = ""

    def __call__(self, name: str, count: int, total: int | None) -> None:
        """Redraw the line if its text has changed."""
        of = f" of {total / 1e6:.1f}" if total else ""
        line = f"{name}  {count / 1e6:.1f}{of} MB"
        if line != self._shown and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if count == total else ""))
            sys.stderr.flush()
        self._shown = line


def _report(benchmark: "Benchmark", added: "AddedData") -> None:
    from agent.datasets.manage.register import describe_version

    record, contents = added.record, added.contents
    version = describe_version(benchmark, contents.known)
    click.echo(
        f"{benchmark.id}: {record.instances} instances in {format_count(len(record.files), 'file')}, {version}"
    )
    for part, count in contents.parts.items() if any(contents.parts) else ():
        click.echo(f"  {part}  {count}")
    if contents.letters:
        counts = ", ".join(f"{letter} {count}" for letter, count in contents.letters.items())
        click.echo(f"  correct options: {counts}")
    if added.left_out:
        click.echo(
            f"  not copied, because this benchmark does not read them: {format_count(added.left_out, 'file')}"
        )
    for problem in contents.problems:
        if benchmark.access == "private" and "published digest" in problem:
            continue  # a hospital's own data has no published digest
        click.secho(f"warning: {problem}; this is noted in the results", fg="yellow", err=True)
    if (
        record.agreement
        and benchmark.agreement
        and record.agreement.casefold() != benchmark.agreement.casefold()
    ):
        click.secho(
            f"warning: the data owner's agreement is {benchmark.agreement!r}, but --agreement is {record.agreement!r}",
            fg="yellow",
            err=True,
        )
