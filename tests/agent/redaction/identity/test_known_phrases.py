"""Addresses, institutions and towns that the dataset knows are found as texts write them, and nothing else is."""

import pytest

from tests.agent.redaction.identity.covered_texts import covered

PLAIN = [
    # a value as its dataset says it, how a text writes it, and what must be covered of it
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "at 12 Elm St now", "12 Elm St"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "on Elm Street now", "Elm Street"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "from Springfield now", "Springfield"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "zip 62704 now", "62704"),
    ("ADDRESS", "Calle Mayor 12, 28013 Madrid", "en C/ Mayor 12 ahora", "Mayor 12"),
    ("ADDRESS", "Calle Mayor 12, 28013 Madrid", "de Madrid ahora", "Madrid"),
    ("FACILITY", "Mercy Vale Hospital", "at Mercy Vale now", "Mercy Vale"),
    ("FACILITY", "Mercy Vale Hospital", "at mercy vale hospital now", "mercy vale hospital"),
    ("EMAIL", "anna.kowalski@ward.example", "user anna.kowalski wrote", "anna.kowalski"),
    ("LOCATION", "Springfield", "from Springfield now", "Springfield"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entity", "value", "text", "gone"), PLAIN, ids=[f"{row[1]}: {row[2]}" for row in PLAIN]
)
def test_a_phrase_is_found_however_another_text_writes_it(
    entity: str, value: str, text: str, gone: str
):
    assert covered(text, (entity, value)) == text.replace(gone, "#" * len(gone))


HARMLESS = [
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "12 tablets, elm bark, a street, il"),
    ("FACILITY", "General Hospital", "in general, a hospital"),
    ("LOCATION", "Turkey", "a turkey sandwich"),
    ("FACILITY", "our clinic", "our clinic"),
]


@pytest.mark.parametrize(
    ("entity", "value", "text"), HARMLESS, ids=[f"{row[1]}: {row[2]}" for row in HARMLESS]
)
def test_what_only_resembles_a_known_phrase_stays(entity: str, value: str, text: str):
    assert covered(text, (entity, value)) == text
