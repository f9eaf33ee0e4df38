"""Texts in the shapes that prompts, dialogues, forms and triage have, with and without people in them.

Templates are written as in `english`; ⟦ ⟧ stand for square brackets of the text itself, ⇥ for a tab.
"""

import random
from collections.abc import Callable

from benchmarks.redaction_training.lists import read_entries
from benchmarks.redaction_training.people import Piece

GENES = read_entries("words/english/genes")
PROTEINS = read_entries("words/english/proteins")
CLIPPED_WORDS = read_entries("words/english/clipped_words")
RARE_TERMS = read_entries("words/english/rare_terms")
RARE_DRUGS = read_entries("words/english/rare_drugs")
PLACE_EPONYMS = read_entries("words/english/place_eponyms")
PLACE_SCALES = read_entries("words/english/place_scales")
STUDY_WORDS = read_entries("words/english/study_words")

HARMLESS = read_entries("templates/english/shapes_harmless")
IDENTIFYING = read_entries("templates/english/shapes_identifying")
QUESTIONS = read_entries("templates/english/option_questions")
OPTIONS = read_entries("templates/english/options")
TURNS = read_entries("templates/english/dialogue_harmless")
TURNS_WITH_PEOPLE = read_entries("templates/english/dialogue_identifying")
TRIAGE = read_entries("templates/english/triage")  # all of it is written in small letters

_OPTION_MARKS = ("{}. ", "{}. ", "{}) ", "({}) ", "{}: ", "[{}] ", "{} - ", "**{}.** ")
_OPTION_SERIES = ("ABCDE", "ABCDE", "ABCDE", "abcde", "12345", "01234")
_SPEAKERS = (
    ("[doctor] ", "[patient] "),
    ("Doctor: ", "Patient: "),
    ("doctor: ", "patient: "),
    ("DR: ", "PT: "),
    ("D: ", "P: "),
    ("Clinician: ", "Patient: "),
    ("Therapist: ", "Client: "),
    ("Counselor: ", "Patient: "),
    ("[doctor] ", "[patient_guest] "),
    ("Speaker 1: ", "Speaker 2: "),
    ("Nurse: ", "Guest_family: "),
    ("**Doctor:** ", "**Patient:** "),
    ("user: ", "assistant: "),
    ("Q: ", "A: "),
)


class ShapeWriter:
    """Writes texts of several shapes from templates."""

    def __init__(self, chance: random.Random, expand: Callable[[str], list[Piece]]) -> None:
        """Draw with `chance`, and fill templates with `expand`."""
        self._chance = chance
        self._expand = expand

    def write(self) -> list[Piece]:
        """Return one text; half of them identify nobody."""
        draw = self._chance.random()
        if draw < 0.3:
            return self._write_lines(HARMLESS)
        if draw < 0.45:
            return self._write_options()
        if draw < 0.55:
            return self._write_dialogue()
        if draw < 0.7:
            return self._write_triage()
        if draw < 0.92:
            return self._write_lines(IDENTIFYING)
        return self._write_mixed_lines()

    def _fill(self, templates: tuple[str, ...]) -> list[Piece]:
        return self._expand(self._chance.choice(templates))

    def _write_lines(self, templates: tuple[str, ...]) -> list[Piece]:
        """Return one to three lines."""
        joint = self._chance.choice(("\n", "\n", " ", ". "))
        pieces: list[Piece] = []
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            pieces += [*self._fill(templates), (joint, None)]
        return pieces[:-1]

    def _write_mixed_lines(self) -> list[Piece]:
        """Return lines of which some identify people, so that neither kind tells about its neighbours."""
        pieces: list[Piece] = []
        for _ in range(self._chance.randint(2, 5)):
            templates = HARMLESS if self._chance.random() < 0.7 else IDENTIFYING
            pieces += [*self._fill(templates), ("\n", None)]
        return pieces[:-1]

    def _write_options(self) -> list[Piece]:
        """Return the options of a question, often with the question before and the answer behind."""
        chance = self._chance
        mark = chance.choice(_OPTION_MARKS)
        series = chance.choice(_OPTION_SERIES)
        joint = chance.choice(("\n", "\n", "\n", " ", "; "))
        pieces: list[Piece] = []
        if chance.random() < 0.7:
            pieces += [*self._fill(QUESTIONS), (chance.choice(("\n", "\n\n", " ")), None)]
        letters = series[: chance.randint(2, 5)]
        for letter in letters:
            pieces += [(mark.format(letter), None), *self._fill(OPTIONS), (joint, None)]
        if chance.random() < 0.4:
            answer = chance.choice(("Answer: ", "Answer:", "The answer is ", "Correct: "))
            pieces.append((answer + mark.format(chance.choice(letters)).strip(), None))
            if chance.random() < 0.5:
                pieces += [(" ", None), *self._fill(OPTIONS)]
        return pieces

    def _write_dialogue(self) -> list[Piece]:
        """Return turns of two speakers; in half of the texts, people are named in some of them."""
        chance = self._chance
        speakers = chance.choice(_SPEAKERS)
        share_with_people = chance.choice((0, 0, 0.3))
        pieces: list[Piece] = []
        for turn in range(chance.randint(2, 7)):
            names_people = chance.random() < share_with_people
            pieces.append((speakers[turn % 2], None))
            pieces += self._fill(TURNS_WITH_PEOPLE if names_people else TURNS)
            pieces.append(("\n", None))
        return pieces[:-1]

    def _write_triage(self) -> list[Piece]:
        """Return triage shorthand in small letters, sometimes beside a line with capitals."""
        pieces: list[Piece] = []
        for _ in range(self._chance.choice((1, 1, 2, 3))):
            pieces += [*self._fill(TRIAGE), (self._chance.choice((", ", "\n", ". ")), None)]
        small = [(text.lower(), kind) for text, kind in pieces[:-1]]
        if self._chance.random() < 0.4:
            capitals = [*self._fill(HARMLESS), ("\n", None)]
            return (
                [*capitals, *small]
                if self._chance.random() < 0.5
                else [*small, ("\n", None), *capitals]
            )
        return small
