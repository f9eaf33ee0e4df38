"""Reading MEDEC's verdicts: whether a note is correct, or which of its sentences is wrong."""

from agent.reading.note_verdicts.claims import NO_ERROR, RULES, SOME_ERROR
from agent.reading.note_verdicts.note import Sentences, list_sentences
from agent.reading.note_verdicts.reader import find_verdict, read_verdict

__all__ = [
    "NO_ERROR",
    "RULES",
    "SOME_ERROR",
    "Sentences",
    "find_verdict",
    "list_sentences",
    "read_verdict",
]
