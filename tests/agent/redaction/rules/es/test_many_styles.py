"""Clinical Spanish of many countries and hands: nearly every identifier that its writers put in is gone."""

import json
from pathlib import Path

import pytest

from agent.redaction.engine import Engine

CORPUS = Path(__file__).parents[4] / "data" / "deid" / "spanish_invented.jsonl"
_LEAST = 0.95  # of the marked identifiers, covered from end to end


@pytest.mark.full
def test_notes_messages_and_dictations_of_many_countries_keep_no_identifier(
    spanish: Engine,
) -> None:
    covered, marked = 0, []
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        (found,) = spanish.find_record([record["text"]])
        assert isinstance(found, tuple)
        hidden = {place for span in found for place in range(span.start, span.end)}
        for start, end, label in record["spans"]:
            letters = {place for place in range(start, end) if record["text"][place].isalnum()}
            marked.append(label)
            covered += letters <= hidden

    assert len(marked) > 100
    assert covered / len(marked) >= _LEAST


@pytest.mark.parametrize(
    ("text", "identifying"),
    [
        ("CURP: LOHA770512HJCPRN06", ("LOHA770512",)),
        ("RFC LOHA770512AB3 para la factura", ("LOHA770512AB3",)),
        ("RUT 9.114.703-5, previsión Fonasa", ("9.114.703",)),
        ("paciente con DNI 24.118.907, sin cobertura", ("24.118.907",)),
        ("C.I. V-8.114.772 en el carnet", ("8.114.772",)),
        ("NSS 1182 64 0937-2", ("1182", "0937")),
        ("CUIT 20-18445210-3", ("18445210",)),
        (
            "vive en Av. Patriotismo 711, Int. 4, Col. San Juan Mixcoac",
            ("Patriotismo", "711", "Mixcoac"),
        ),
        ("dirección: Cra 15 # 93-60 apto 302", ("93-60", "302")),
        ("llamar al +52 1 33 1847 2290", ("1847", "2290")),
        ("celular 301 774 9021", ("301", "9021")),
        ("tel. (0341) 425-7718", ("425-7718",)),
        ("operada el siete de enero de dos mil diecinueve", ("siete de enero", "diecinueve")),
        ("control el 03/sep/2021", ("sep/2021",)),
        ("la doctora agustina ledesma indica reposo", ("agustina", "ledesma")),
        ("Ma. Eugenia Cervantes acude a consulta", ("Ma. Eugenia", "Cervantes")),
        ("consultorio 12, folio 2022-44871", ("44871",)),
        ("taxi con placas KLM-482", ("KLM-482",)),
    ],
)
def test_formats_of_latin_america_and_of_dictation_are_gone(
    spanish: Engine, text: str, identifying: tuple[str, ...]
) -> None:
    shown = str(spanish.redact(f"Nota de ingreso: {text}. Evoluciona bien."))

    assert not [part for part in identifying if part in shown]


@pytest.mark.parametrize(
    "text",
    [
        "Presión de 120-80 y frecuencia de 72 por minuto; diuresis de 1.200.000 ml acumulados.",
        "Se administran 250 mg cada 8 horas en la sala de yesos.",
        "El paciente dos semanas después toleraba la dieta.",
        "La señora recibió alta en orden 2.",
    ],
)
def test_numbers_and_words_that_look_like_those_formats_stay(spanish: Engine, text: str) -> None:
    shown = str(spanish.redact(text))

    assert not any(
        tag in shown for tag in ("[PHONE", "[LICENSE", "[PLAN", "[NAME", "[ADDRESS", "[ENCOUNTER")
    )
