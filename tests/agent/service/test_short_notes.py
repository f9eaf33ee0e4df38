"""Every caveat has short words."""

from agent.results.summarize import Note
from agent.service.short_notes import SHORT_NOTES, find_shared_notes


def test_every_note_has_short_words_of_its_own():
    assert set(SHORT_NOTES) == set(Note)
    assert len(set(SHORT_NOTES.values())) == len(Note)


def test_shared_notes_are_those_of_every_result():
    of_results = [[Note.SAMPLE, Note.FEW_UNITS], [Note.SAMPLE]]
    assert find_shared_notes(of_results) == (Note.SAMPLE,)
    assert find_shared_notes([]) == ()
