"""The commands `calibrate new`, `import`, `report`, `list` and `delete`: compare a jury with clinicians."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import EXISTING_FILE, format_option, suite_option
from agent.cli.output import show_rows
from agent.errors import ConfigError
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.calibration.clinician_agreement import AgreementFigure
    from agent.store import Rater

AGREEMENT = {
    "criterion": "Criterion",
    "who": "Clinicians and",
    "n": "n",
    "icc": "ICC(2,1)",
    "z": "ICC(3,1) of z scores",
}
BESIDE = {
    "criterion": "Criterion",
    "who": "Who",
    "above_n": "n",
    "above": "Difference",
    "words": "In words",
}


@click.group()
def calibrate() -> None:
    """Compare a jury with clinicians who grade the same answers."""


@calibrate.command()
@click.argument("name")
@suite_option
@click.option("--benchmark", required=True, help="The benchmark whose answers are graded.")
@click.option(
    "--items",
    type=click.IntRange(2, 10_000),
    default=60,
    show_default=True,
    help="Total number of answers.",
)
@click.option(
    "--raters",
    type=click.IntRange(1, 50),
    default=2,
    show_default=True,
    help="Number of clinicians; each of them grades every answer.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed that chooses the answers.")
@click.option("--with-reference", is_flag=True, help="Also show clinicians the right answer.")
@click.option(
    "--reveal",
    is_flag=True,
    help="Write original instead of redacted text; this is recorded in the audit log.",
)
@click.option(
    "--output",
    "--out",
    "out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A new folder.",
)
@click.pass_obj
def new(
    site: Site,
    name: str,
    suite: str,
    benchmark: str,
    items: int,
    raters: int,
    seed: int | None,
    with_reference: bool,
    reveal: bool,
    out: Path,
) -> None:
    """Write a blinded sample of stored answers for clinicians to grade.

    Writes instructions and a CSV file for each clinician, in a different order, with columns to fill in. The sample
    has an equal share of every model's answers. The files show neither the model nor the jury's grades. NAME becomes
    the name of the sample.
    """
    from agent.calibration.make_calibration import CalibrationSampling, make_calibration

    wanted = CalibrationSampling(
        name, suite, benchmark, items, raters, seed, with_reference, reveal
    )
    made = make_calibration(site, wanted, out)
    click.echo(
        f"{made.items} answers of {_counted(made.models, 'model')}, of {_counted(made.units, 'patient or document')}: "
        f"{', '.join(made.files)} and instructions.txt in {out.name}"
    )
    click.echo(made.note)
    notes = {
        f"{items} answers were requested; only {made.items} are available": made.items < items,
        f"{_counted(made.purged, 'answer')} could not be chosen, because their texts were purged": made.purged
        > 0,
        f"{_counted(made.withheld, 'text')} could not be redacted safely and are not shown": made.withheld
        > 0,
        f"{_counted(made.too_long, 'item')} with a text longer than a spreadsheet's cell can hold (32,767 characters): "
        "spreadsheets cut or split it; open the file with another program": made.too_long > 0,
        "agreement among clinicians cannot be measured with one clinician": raters == 1,
    }
    for note, applies in notes.items():
        if applies:
            click.echo(f"note: {note}", err=True)
    click.echo(
        f'Next: intramural calibrate import {name} {out.name}/{made.files[0]} --rater "NAME OF THE CLINICIAN"'
    )


@calibrate.command(name="import")
@click.argument("name")
@click.argument("file", type=EXISTING_FILE)
@click.option(
    "--rater",
    required=True,
    help="Clinician's name; encrypted in the store, and shown as R1, R2, ...",
)
@click.option("--replace", is_flag=True, help="Replace the clinician's earlier grades.")
@click.option(
    "--same-grades",
    is_flag=True,
    help="Confirm that another clinician gave exactly the same grades.",
)
@click.pass_obj
def import_ratings(
    site: Site, name: str, file: Path, rater: str, replace: bool, same_grades: bool
) -> None:
    """Import a clinician's grades.

    FILE may be partly filled in: blank cells are missing grades. If a cell is invalid, it is named and nothing is
    imported. Only the grades are read. A file with exactly the same grades as another clinician's is refused, because
    the grades of one person would then count twice.
    """
    from agent.calibration.make_calibration import require_calibration
    from agent.calibration.sheet import read_sheet
    from agent.metrics import Scale

    rater = " ".join(rater.split())
    if not rater:
        raise ConfigError("the clinician's name is empty", "Give a name with --rater.")
    with site.store() as store:
        plan = require_calibration(store, name).plan
        known = store.calibrations.find_rater(name, rater)
        if known is not None and known.account is not None:
            raise ConfigError(
                f"an account of this name grades calibration {name} on the pages of the service",
                "Grades given there are not replaced by a sheet. To import the sheet, first delete them with "
                f"`intramural calibrate delete {name} --rater R{known.number}`.",
            )
        if known is not None and not replace:
            raise ConfigError(
                f"grades by this clinician are in calibration {name} already",
                "Give --replace to replace them.",
            )
        grades = read_sheet(file, list(plan["items"]), plan["criteria"], Scale(*plan["scale"]))
        for other in store.calibrations.read_raters(name):
            if (
                other.grades == grades
                and (known is None or other.number != known.number)
                and not same_grades
            ):
                raise ConfigError(
                    f"all grades are the same as R{other.number}'s: is it the same sheet under another name?",
                    "If both clinicians did give these grades, confirm this with --same-grades.",
                )
        number = store.calibrations.keep_ratings(name, rater, grades)
        store.audit.record(
            "calibration ratings", f"name={name} rater=R{number} items={len(grades)}"
        )
        raters = len(store.calibrations.read_raters(name))
    full = sum(len(given) == len(plan["criteria"]) for given in grades.values())
    click.echo(
        f"R{number}: {len(grades)} of {len(plan['items'])} answers graded, {full} on every criterion"
    )
    if raters > plan["raters"]:
        from agent.calibration.report_notes import describe_more_raters

        click.echo(f"note: {describe_more_raters(raters, plan['raters'])}", err=True)
    click.echo(f"Next: intramural calibrate report {name}")


@calibrate.command()
@click.argument("name")
@click.option(
    "--width",
    type=click.FloatRange(0, 2, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="Width of the ICC(2,1) interval for which the report estimates how many patients or documents are needed.",
)
@format_option("csv")
@click.pass_obj
def report(site: Site, name: str, width: float, form: str) -> None:
    """Show the agreement of jury, judges and clinicians.

    For each criterion and overall, on the same answers, with bootstrap intervals over patients or documents.
    """
    from agent.calibration.clinician_agreement import compare_graders
    from agent.calibration.make_calibration import require_calibration
    from agent.calibration.ratings import build_rating_table
    from agent.calibration.report_notes import list_report_notes

    with site.store() as store:
        calibration = require_calibration(store, name)
        table = build_rating_table(store, calibration)
    clinicians = len(table.list_columns("clinician"))
    if not clinicians:
        raise ConfigError(
            f"calibration {name} has no clinician's grades",
            "Import them with `intramural calibrate import`, or let clinicians finish on the service's page Rating.",
        )
    found = list(compare_graders(table, width))
    rows = [_row(figure, clinicians) for figure in found]
    if form != "table":
        show_rows(rows, {column: "" for row in rows[:1] for column in row}, form)
    else:
        plan = calibration.plan
        title = f"Calibration {name}: {plan['benchmark']} of suite {plan['suite']}, {_counted(clinicians, 'clinician')}"
        shown = [
            {
                **row,
                **{key: _with_limits(row, key) for key in ("icc", "z", "above")},
                "n": _range(figure),
            }
            for row, figure in zip(rows, found, strict=True)
        ]
        _show(title, shown, len(set(table.units)))
        needed = [f"{row['who']} {row['needed']}" for row in rows if _asks_for_more(row, rows)]
        if needed:
            click.echo(
                f"Approximate number of patients or documents for an interval of width {width:g} of ICC(2,1) on "
                f"{rows[-1]['criterion']}:\n  {', '.join(needed)}"
            )
    for note in list_report_notes(table, calibration, found):
        click.echo(f"note: {note}", err=True)


def _show(title: str, rows: Sequence[Mapping[str, Any]], units: int) -> None:
    show_rows(rows, AGREEMENT, "table", title=title)
    click.echo(
        "Each value is a mean over pairs with a clinician. n: answers that both members of a pair graded.\n"
        f"In brackets: 95 % intervals, resampled over {_counted(units, 'patient or document')} (none below 10).\n"
        "They apply to these clinicians and judges only: similar ones may agree less.\n"
        "ICC(2,1) is absolute agreement. The ICC of z scores ignores differences\n"
        "of scale; metrics have only this ICC."
    )
    beside = [row for row in rows if row["words"]]
    if beside:
        show_rows(beside, BESIDE, "table", title="Compared with the agreement among clinicians")
        click.echo(
            "Difference: the ICC(3,1) of z scores with the two clinicians of a pair, minus the ICC(3,1)\n"
            "between those two clinicians, on answers that all three graded.\n"
            "In words: based on each interval alone; one in twenty may be wrong by chance."
        )


def _asks_for_more(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the row is the jury's or the clinicians' overall row and states the required number of units."""
    of_note = row["kind"] in ("clinician", "jury") and row["criterion"] == rows[-1]["criterion"]
    return of_note and row["needed"] is not None


@calibrate.command()
@click.argument("name")
@click.option("--rater", metavar="R1", help="Only this clinician's name and grades.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def delete(site: Site, name: str, rater: str | None, yes: bool) -> None:
    """Delete a sample and its grades, or one clinician's grades.

    Files outside the store are not deleted; but the sheets of a deleted sample can no longer be imported. The
    deletion is recorded in the audit log.
    """
    from agent.calibration.make_calibration import (
        delete_calibration,
        delete_rater,
        require_calibration,
    )

    with site.store() as store:
        require_calibration(store, name)
        numbers = {f"R{one.number}": one.number for one in store.calibrations.read_raters(name)}
    if rater is not None and rater.upper() not in numbers:
        raise ConfigError(
            f"no {rater} in calibration {name} (clinicians there: {', '.join(numbers) or 'none yet'})",
            "Name a clinician as `intramural calibrate list` does.",
        )
    whose = rater.upper() if rater else _counted(len(numbers), "clinician")
    what = f"the name and grades of {whose} in calibration {name}"
    if not rater:
        what = f"calibration {name} with the names and grades of {whose}"
    if not yes and not click.confirm(f"Delete {what}?"):
        click.echo("Nothing was deleted.")
        raise click.exceptions.Exit(1)
    with site.store() as store:
        if rater:
            delete_rater(store, name, numbers[whose])
            click.echo(f"The name and grades of {whose} in calibration {name} are deleted.")
        else:
            delete_calibration(store, name)
            click.echo(f"Calibration {name} is deleted, with the names and grades of {whose}.")


@calibrate.command(name="list")
@format_option("csv")
@click.pass_obj
def list_(site: Site, form: str) -> None:
    """List the samples with benchmark, size and graders."""
    rows = []
    with site.store() as store:
        for one in store.calibrations.read_all():
            raters = store.calibrations.read_raters(one.name)
            rows.append(
                {
                    "name": one.name,
                    "suite": one.plan["suite"],
                    "benchmark": one.plan["benchmark"],
                    "items": len(one.plan["items"]),
                    "asked": one.plan["raters"],
                    "graded": len(raters),
                    "grades": ", ".join(map(_describe_progress, raters)),
                    "made_at": datetime.fromtimestamp(one.made_at, UTC).date().isoformat(),
                }
            )
    headings = (
        "Name",
        "Suite",
        "Benchmark",
        "Answers",
        "Clinicians",
        "Graded by",
        "Answers graded",
        "Created (UTC)",
    )
    keys = ("name", "suite", "benchmark", "items", "asked", "graded", "grades", "made_at")
    show_rows(rows, dict(zip(keys, headings, strict=True)), form)


def _describe_progress(rater: "Rater") -> str:
    unfinished = "" if rater.finished else " (not finished)"
    return f"R{rater.number}: {len(rater.grades)}{unfinished}"


def _row(figure: "AgreementFigure", clinicians: int) -> dict[str, Any]:
    from agent.calibration.clinician_agreement import CLINICIANS

    row: dict[str, Any] = {
        "criterion": figure.criterion,
        "who": "other clinicians" if figure.who == CLINICIANS else figure.who,
        "kind": figure.kind,
        "n": figure.n,
        "units": figure.units,
        "pairs": "; ".join(f"{names}: {n}" for names, n in figure.pairs.items()),
    }
    parts = {
        "icc": figure.absolute,
        "z": figure.standardised,
        "z_k": figure.mean,
        "above": figure.above,
    }
    for key, icc in parts.items():
        row |= {key: icc.value, f"{key}_low": icc.low, f"{key}_high": icc.high}
    words = figure.words if clinicians > 1 and figure.who != CLINICIANS else None
    return {**row, "above_n": figure.above_n, "words": words, "needed": figure.needed}


def _range(figure: "AgreementFigure") -> str:
    """Return the range of the numbers of answers that pairs have in common."""
    few, many = min(figure.pairs.values(), default=0), max(figure.pairs.values(), default=0)
    return str(few) if few == many else f"{few} to {many}"


def _with_limits(row: Mapping[str, Any], key: str) -> str | None:
    value, low, high = (row[name] for name in (key, f"{key}_low", f"{key}_high"))
    if value is None:
        return None
    return (
        f"{value:z.2f}"
        if low is None or high is None
        else f"{value:z.2f} ({low:z.2f} to {high:z.2f})"
    )


def _counted(count: int, what: str) -> str:
    words = what.split(" or ")
    return f"{count} " + " or ".join(word if count == 1 else f"{word}s" for word in words)
