"""Each text of a record is searched in the languages in which it is written."""

import pytest

from agent.redaction.languages.detector import choose_languages, find_evident

ENGLISH = "The patient was seen in clinic today with fever and cough."
SPANISH = "La paciente refiere dolor torácico desde ayer por la tarde."


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        (ENGLISH, ("en",)),
        (SPANISH, ("es",)),
        (f"{ENGLISH} {SPANISH}", ("en", "es")),
        (f"{SPANISH} {ENGLISH}", ("en", "es")),
        ("la paciente refiere dolor toracico", ("es",)),
        ("¿Cuál es el tratamiento?", ("es",)),
        ("pt c/o cp sob x3d hx htn dm2", ("en",)),
        ("She lives in San Jose and was treated at El Camino Hospital.", ("en",)),
        ("La paciente fue vista el June 5 por dolor torácico.", ("en", "es")),
        ("La paciente fue vista en Mercy Hospital por dolor torácico.", ("en", "es")),
        ("La paciente fue vista en el Hospital Mayor por dolor torácico.", ("es",)),
        ("Acude con su boyfriend Tyler por dolor torácico.", ("en", "es")),
        (
            "D. José Luis García, DNI 12345678Z, ingresado en el Hospital San Carlos por disnea. Dra. Lucía Romero.",
            ("es",),
        ),
        ("PACIENTE INGRESADO EN EL HOSPITAL POR DISNEA", ("es",)),
        ("Rua das Laranjeiras, 210 - apto 501\nRio de Janeiro - RJ", ("en", "es")),
        ("B", ()),
        ("120/80", ()),
        ("", ()),
    ],
)
def test_the_language_of_a_text(text: str, languages: tuple[str, ...]):
    assert find_evident(text) == languages


def test_a_text_that_tells_nothing_is_searched_in_the_languages_of_its_record():
    assert choose_languages([SPANISH, "B"]) == [("es",), ("es",)]
    assert choose_languages([SPANISH, "B", ENGLISH]) == [("es",), ("en", "es"), ("en",)]
    assert choose_languages(["B", "120/80"]) == [("en",), ("en",)]
