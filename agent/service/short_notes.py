"""Caveats in a few words, for the place of a number; `Note` itself is the full sentence."""

from collections.abc import Iterable, Mapping, Sequence

from agent.results.summarize import Note

SHORT_NOTES: Mapping[Note, str] = {
    Note.NOT_MAIN: "other metric",
    Note.SEATS_OPEN: "judges still open",
    Note.FEW_UNITS: "few units",
    Note.MANY_UNSCORED: "many unscored",
    Note.MANY_CUT_OFF: "many cut off",
    Note.ALL_THE_SAME: "all scores equal",
    Note.SEATS_EMPTY: "empty seats",
    Note.FAMILY: "judged by its family",
    Note.SAMPLE: "sample",
    Note.INVENTED: "invented data",
    Note.UNKNOWN_DATA: "unknown data",
    Note.CONSTRAINED: "constrained answers",
    Note.LOGPROB: "likeliest option",
    Note.OTHER_PARSER: "other parser",
    Note.HELM: "HELM’s rules",
    Note.IMPORTED: "imported",
    Note.NOT_ENDED: "not ended",
    Note.NO_LANGUAGE_MODEL: "baseline",
    Note.MEAN_OF_RUNS: "mean of runs",
}


def explain_notes(notes: Iterable[Note]) -> dict[Note, str]:
    """Return the short words of each of these notes, in the order of `Note`."""
    used = set(notes)
    return {note: SHORT_NOTES[note] for note in Note if note in used}


def find_shared_notes(notes: Iterable[Sequence[Note]]) -> tuple[Note, ...]:
    """Return the notes that all of these results have, in the order of `Note`; none for no result."""
    shared: set[Note] | None = None
    for of_result in notes:
        shared = set(of_result) if shared is None else shared & set(of_result)
    return tuple(note for note in Note if shared and note in shared)
