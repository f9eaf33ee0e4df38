"""Spanish identifiers of every class, in heads of records, signatures and prose: none may be left."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction.deadline import Deadline
from agent.redaction.engine import Engine
from agent.redaction.rules.es.fields import find_fields

# What is planted in a sentence, and what of it identifies; made up here.
PLANTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "doctor": ("visto por la Dra. Begoña Etxaniz Urkullu", ("Begoña", "Etxaniz", "Urkullu")),
    "doctor without a space": ("comentado con Dr.Iñaki Olabe", ("Iñaki", "Olabe")),
    "don": ("acude don Leovigildo Cazorla", ("Leovigildo", "Cazorla")),
    "family name after Sr.": ("el Sr. Zubeldia refiere dolor", ("Zubeldia",)),
    "listed name without cue": ("Esperanza Bermúdez acude a revisión", ("Esperanza", "Bermúdez")),
    "name with particles": ("Juan de la Cruz del Olmo ingresa", ("Juan", "Cruz", "Olmo")),
    "name in capitals": ("MARÍA DOLORES QUINTANILLA PEÑA", ("MARÍA", "QUINTANILLA", "PEÑA")),
    "child by name": ("su hijo Unai tiene fiebre", ("Unai",)),
    "called": ("una vecina llamada Carmiña Souto", ("Carmiña", "Souto")),
    "name without capitals": (
        "vecino de usted, se llama antonio lopez garcia",
        ("antonio", "lopez", "garcia"),
    ),
    "date": ("ingresa el 03/11/2019", ("03/11", "2019")),
    "date with dashes": ("alta el 3-11-19", ("3-11",)),
    "date in words": ("el 3 de noviembre de 2019", ("noviembre", "2019")),
    "two months": ("entre marzo y abril de 2011", ("marzo", "abril", "2011")),
    "month": ("desde octubre presenta tos", ("octubre",)),
    "month and short year": ("en Junio 04 recae", ("Junio", "04")),
    "year": ("intervenida en 1998 por apendicitis", ("1998",)),
    "year named": ("fumador hasta el año 2003", ("2003",)),
    "weekday": ("el lunes 14 acude a consulta", ("lunes",)),
    "age": ("varón de 54 años", ("varón", "54")),
    "age in words": ("mujer de sesenta y tres años", ("mujer", "sesenta")),
    "age of a child": ("niño de 7 meses", ("7",)),
    "age in months in words": ("niña de cuatro meses", ("cuatro",)),
    "age over 89": ("mujer de 94 años de edad", ("94",)),
    "age over 89 in words": ("tenía noventa y dos años", ("noventa",)),
    "age at an event": ("a los 14 años sufrió un traumatismo", ("14",)),
    "record number": ("NHC 4471902", ("4471902",)),
    "number of history": ("historia clínica nº 88-2213", ("88-2213",)),
    "insurance": ("NASS 28 44719023 11", ("44719023",)),
    "insurance card": ("CIPA: nhc-201455", ("201455",)),
    "identity card": ("DNI 44719023K", ("44719023",)),
    "identity card without cue": ("presenta 44.719.023-K en mano", ("44.719.023",)),
    "card of foreigners": ("NIE X4471902L", ("4471902",)),
    "physician's number": ("nº de colegiado 28 28 44719", ("44719",)),
    "episode": ("episodio: 5520017", ("5520017",)),
    "mobile": ("llamar al 655 21 40 98", ("655", "40 98")),
    "telephone abroad": ("tel. +34 944 210 398", ("944", "398")),
    "two telephones": ("Tlf: 918038014 / 656352534", ("918038014", "656352534")),
    "fax": ("Fax 985-27-36-14", ("27-36",)),
    "e-mail": ("escriba a b.etxaniz@salud.example.es", ("etxaniz", "salud.example")),
    "e-mail spelt": ("b.etxaniz (arroba) salud (punto) example", ("etxaniz",)),
    "street": ("vive en C/ Almirante Churruca, 12, 3º B", ("Churruca", "12", "3º")),
    "street in lower case": ("vive en la calle embajadores, 23, 2 A", ("embajadores", "23")),
    "avenue": ("Avda. del Mediterráneo s/n", ("Mediterráneo",)),
    "road": ("Ctra. de Colmenar, km 9,100", ("Colmenar", "9,100")),
    "postal code and town": ("28770 Colmenarejo (Madrid)", ("28770", "Colmenarejo", "Madrid")),
    "town": ("natural de Bollullos del Condado", ("Bollullos", "Condado")),
    "city": ("trasladada a Zaragoza", ("Zaragoza",)),
    "country": ("residente en Guinea Ecuatorial", ("Guinea",)),
    "town abroad": ("equipo (Medixon, Uppsala, Suecia)", ("Uppsala", "Suecia")),
    "hospital": ("ingresó en el Hospital Virgen de la Salud", ("Virgen", "Salud")),
    "hospital named by a date": ("Hospital Universitario 12 de Octubre", ("12", "Octubre")),
    "health centre": ("derivado del Centro de Salud Las Tablas", ("Tablas",)),
    "clinic": ("operada en la Clínica Belzunegui", ("Belzunegui",)),
    "university": ("trabaja en la Universidad de Murcia", ("Murcia",)),
    "sex": ("paciente de sexo femenino", ("femenino",)),
    "kin": ("su hermana mayor padece asma", ("hermana",)),
    "kin with age": ("padre de 39 años sano", ("padre", "39")),
    "several kin": ("tiene dos hijos varones y tres hermanas", ("hijos", "hermanas")),
    "married": ("está casada y sin hijos", ("casada",)),
    "occupation by cue": ("de profesión soldador", ("soldador",)),
    "work": ("trabaja como apicultor", ("apicultor",)),
    "occupation in a list": ("taxista jubilado", ("taxista",)),
    "nationality": ("de nacionalidad senegalesa", ("senegalesa",)),
    "people": ("paciente peruano", ("peruano",)),
    "ethnic origin": ("de raza gitana", ("gitana",)),
    "plate": ("matrícula 4471 KDB", ("4471", "KDB")),
    "account": ("ES91 2100 0418 4502 0005 1332", ("2100", "1332")),
    "serial number": ("marcapasos nº de serie KX4471902", ("KX4471902",)),
    "web page": ("cita en www.clinica-belzunegui.example.es", ("belzunegui",)),
}
CONTEXTS = (
    "{}.",
    "Refiere lo siguiente: {}. Sin otros datos.",
    "Hipertensión en tratamiento; {}, con buena evolución.",
    "\n{}\n",
)


@pytest.mark.sample(60)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", PLANTED)
def test_planted_identifiers_are_gone(spanish: Engine, kind: str, context: str) -> None:
    planted, identifying = PLANTED[kind]

    shown = str(spanish.redact(context.format(planted)))

    for part in identifying:
        assert part not in shown


HEAD = """Datos del paciente.
Nombre:  Ximena .
Apellidos: Arbeloa Zapirain.
NHC: 5519028.
NASS: 31 55190281 07.
Domicilio:  Calle Olite 44, 2 izq..
Localidad/ Provincia: Tafalla.
CP: 31300.
Fecha de nacimiento: 26708/1971.
País: Uruguay.
Edad: 45 años Sexo: M.
Fecha de Ingreso: 0/10/2016 .
Episodio: 771029.
Médico: Edurne Goizueta Lacarra  NºCol: 31 31 77102.
Motivo de ingreso: Dolor abdominal.
"""


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    "identifying",
    [
        *(
            "Ximena",
            "Arbeloa",
            "Zapirain",
            "5519028",
            "55190281",
            "Olite",
            "44",
            "izq",
            "Tafalla",
            "31300",
            "26708",
        ),
        *(
            "1971",
            "Uruguay",
            "45",
            " M.",
            "0/10",
            "2016",
            "771029",
            "Edurne",
            "Goizueta",
            "Lacarra",
            "77102",
        ),
    ],
)
def test_the_head_of_a_record_shows_no_value_even_misspelt(
    spanish: Engine, identifying: str
) -> None:
    shown = str(spanish.redact(HEAD))

    assert identifying not in shown
    assert "Dolor abdominal" in shown
    assert "Apellidos:" in shown


@given(st.text(st.sampled_from("Nombre: NHC Edad Sexo.,;\n 0123ñÁº|"), max_size=120))
@settings(max_examples=60, deadline=None)
def test_labelled_values_lie_within_the_text_and_begin_and_end_in_it(text: str) -> None:
    deadline = Deadline()
    deadline.start(5)

    for _, start, end in find_fields(text, deadline):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert "\n" not in text[start:end]


def test_a_long_line_of_labels_takes_bounded_time(spanish: Engine) -> None:
    text = "Nombre: " * 8_000 + "C/ " * 5_000 + "de la " * 5_000

    assert "WITHHELD" not in str(spanish.redact(text))
