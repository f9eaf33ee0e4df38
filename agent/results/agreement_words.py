"""The words about agreement among judges: what each check means, and what a reader of the numbers should know."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.results.judge_agreement import Agreement

CHECKS = {
    "length": "Grades and the length of the answer",
    "judge": "Each judge compared with the others",
    "family": "Judges of the model's family compared with the others",
    "favour": "Self-preference: does a judge grade its own family's models higher?",
}
EXPLAINED = {
    "length": "Rank correlation with the number of characters, within each model's answers.",
    "judge": "The judge's mean grade minus that of the others, on the jury's scale.",
    "family": "Mean grade by judges of the model's own family minus that of the others, for the same answers.\n"
    "A difference may be due to self-preference, different severity or a narrower range of grades.",
    "favour": "The judge's mean grade minus that of judges of other families, for models of its own family,\n"
    "minus the same difference for all other models. A difference may be due to self-preference\n"
    "or a narrower range of grades. A dash means that the two groups of answers are not comparable:\n"
    "the other judges' mean grades for them differ by more than one standard deviation.",
}
LIMITS = {
    "F": "F: from the F distribution, used if every answer belongs to a different unit.\n"
    "    ICC(2) limits generalise to similar judges.",
    "percentile": "units: from resampled units, used if answers share units.\n"
    "    These limits hold for these judges only; similar judges may agree less.",
}


def list_heard(agreement: "Agreement") -> list[str]:
    """Return the judges that gave a verdict."""
    return [judge for judge in agreement.judges if judge not in agreement.silent]


def list_agreement_notes(agreements: "Sequence[Agreement]") -> list[str]:
    """Return a note for each benchmark graded by too few judges to measure agreement."""
    notes: dict[str, None] = {}
    has_several_juries = any(agreement.jury > 1 for agreement in agreements)
    for agreement in agreements:
        heard = list_heard(agreement)
        answers = agreement.benchmark
        if has_several_juries:
            answers += f" (jury {agreement.jury})"
        if len(heard) == 1:
            notes[
                f"only {heard[0]} graded answers of {answers}, so agreement cannot be measured"
            ] = None
        elif not agreement.complete:
            silent = ", ".join(agreement.silent)
            reason = f" ({silent} graded none)" if silent else ""
            notes[
                f"no answer of {answers} was graded by every judge{reason}, so ICC cannot be computed"
            ] = None
    return list(notes)
