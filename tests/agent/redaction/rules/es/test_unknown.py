"""The strict level in Spanish: unknown capitalised words and relative dates go; words that every record has stay."""

import pytest

from agent.redaction.engine import Engine, open_engine


@pytest.fixture(scope="module")
def strict() -> Engine:
    return open_engine("strict", language="es")


@pytest.mark.full
@pytest.mark.parametrize(
    "hidden",
    [
        *(
            "Xuclà",
            "Ortzadar",
            "Wimbledonia",
            "Zpsycho",
            "hace tres días",
            "ayer",
            "la semana pasada",
        ),
        *("dos meses después", "anoche", "el mes anterior", "esta tarde", "hace 2 años"),
    ],
)
def test_words_that_no_list_knows_and_relative_dates_are_gone(strict: Engine, hidden: str) -> None:
    assert hidden not in str(strict.redact(f"Se comenta, en {hidden}, sin hallazgos de interés."))


def test_words_of_medicine_that_begin_with_a_capital_stay(strict: Engine) -> None:
    text = "Abdomen blando. Hemograma normal. Diagnóstico: Neumonía. Tratamiento: Reposo. TAC sin lesiones."

    assert str(strict.redact(text)) == text
