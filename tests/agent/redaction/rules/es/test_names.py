"""Given names that are everyday words, too, are taken where somebody acts or has an age."""

import pytest

from agent.redaction.engine import Engine


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Acude Ángel por dolor", "Ángel"),
        ("Acude Marcos por dolor torácico", "Marcos"),
        ("Hablo con Consuelo por teléfono", "Consuelo"),
        ("Rosa, 45 años, dolor torácico", "Rosa"),
    ],
)
def test_a_given_name_that_is_an_everyday_word_is_taken(spanish: Engine, text: str, name: str):
    assert name not in spanish.redact(text)


@pytest.mark.parametrize("text", ["Varón, 45 años, con dolor torácico", "Mujer, 45 años, con tos"])
def test_a_word_for_a_patient_is_no_name(spanish: Engine, text: str):
    assert "NAME" not in spanish.redact(text)
