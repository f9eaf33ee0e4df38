"""Notes for the reader of a calibration's report."""

from collections.abc import Sequence

from agent.calibration.clinician_agreement import (
    MIN_ANSWERS,
    AgreementFigure,
    find_constant_graders,
)
from agent.calibration.ratings import RatingTable
from agent.store import Calibration

FEW_UNITS = 30


def list_report_notes(
    table: RatingTable, calibration: Calibration, found: Sequence[AgreementFigure]
) -> list[str]:
    """Return notes on the sample for the reader of a report."""
    items = len(calibration.plan["items"])
    clinicians, sheets = len(table.list_columns("clinician")), calibration.plan["raters"]
    left_out = dict.fromkeys(
        f"{names} ({n})" for figure in found for names, n in figure.left_out.items()
    )
    alike = {
        grader: ", ".join(criteria) for grader, criteria in find_constant_graders(table).items()
    }
    notes: dict[str, int] = {
        f"{table.changed} of {items} answers are left out, because their run has a different answer now": table.changed,
        f"{table.purged} of {items} answers were purged: only the questions confirm that these "
        f"are the answers that were graded": table.purged,
        f"{table.unfinished} {'clinician is' if table.unfinished == 1 else 'clinicians are'} left out until they "
        "finish on the pages of the service": table.unfinished,
        "the jury has graded none of these answers": not table.list_columns("jury"),
        "several juries graded these answers; each is compared with the clinicians separately": len(
            table.list_columns("jury")
        )
        > 1,
        "agreement among clinicians cannot be measured with one clinician": clinicians == 1,
        describe_more_raters(clinicians, sheets): clinicians > sheets,
        f"left out, because they have fewer than {MIN_ANSWERS} answers in common: {', '.join(left_out)}": bool(
            left_out
        ),
        f"no z scores, because all grades are the same: "
        f"{'; '.join(f'{who} ({of})' for who, of in alike.items())}": bool(alike),
        f"fewer than {FEW_UNITS} patients or documents: intervals are wide and only approximate": any(
            figure.units < FEW_UNITS for figure in found
        ),
    }
    return [note for note, applies in notes.items() if applies]


def describe_more_raters(raters: int, sheets: int) -> str:
    """Return a note for more imported graders than sheets."""
    return f"grades of {raters} clinicians were imported, but there are sheets for {sheets}: was one imported twice?"
