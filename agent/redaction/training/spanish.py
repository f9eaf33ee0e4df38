"""Texts for the Spanish model: the training part of MEDDOCAN, the same with other names, and notes made up here.

MEDDOCAN (Marimon et al. 2019, https://github.com/PlanTL-GOB-ES/SPACCC_MEDDOCAN, CC BY 4.0) holds clinical cases in
Spanish with made-up identifiers. Its training part is not shipped: its folder, of .txt and .ann files as published, is
named when training.

    python -m agent.redaction.training.spanish corpus/train/brat agent/redaction/models/es
"""

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from agent.redaction.spanish.word_lists import entries, words
from agent.redaction.training.train import Example, train_model

SEED = 20_260
_STEPS = 1_500
_MADE_UP = 6_000  # texts
_KNOWN = 0.65  # of the ordinary words in the texts, those that the network is told of

# Labels of MEDDOCAN -> entities.
_ENTITIES = {
    "NOMBRE_SUJETO_ASISTENCIA": "NAME",
    "NOMBRE_PERSONAL_SANITARIO": "NAME",
    "TERRITORIO": "LOCATION",
    "PAIS": "LOCATION",
    "CALLE": "ADDRESS",
    "HOSPITAL": "FACILITY",
    "CENTRO_SALUD": "FACILITY",
    "INSTITUCION": "ORGANIZATION",
    "FECHAS": "DATE",
    "EDAD_SUJETO_ASISTENCIA": "AGE_BELOW_90",
    "FAMILIARES_SUJETO_ASISTENCIA": "FAMILY",
}
# The others are left to the rules: numbers and addresses of machines, which patterns find; sex, which few words tell;
# professions and remarks in no class, of all kinds of words, of which the corpus has too few to learn from.

# The probability of identifying somebody from which on a word is redacted. High where the rules find nearly all.
BOUNDS = {
    "NAME": 0.5,
    "LOCATION": 0.5,
    "ADDRESS": 0.6,
    "FACILITY": 0.5,
    "ORGANIZATION": 0.55,
    "DATE": 0.5,
    "AGE_BELOW_90": 0.75,
    "FAMILY": 0.85,
}


def read_corpus(path: Path) -> list[Example]:
    """Read a folder of .txt and .ann files (brat), or rows {"text", "spans": [[start, end, label], ...]}.

    Raises:
        ValueError: there is nothing in it.
    """
    examples = [*_rows(path)] if path.is_file() else [_brat(text) for text in sorted(path.glob("*.txt"))]
    if not examples:
        raise ValueError(f"{path.name}: neither rows nor files .txt beside files .ann")
    return [
        (
            text,
            [(start, end, _ENTITIES[label]) for start, end, label in spans if label in _ENTITIES],
        )
        for text, spans in examples
    ]


def _rows(path: Path) -> Iterator[Example]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["text"], [(start, end, label) for start, end, label in row["spans"]]


def _brat(path: Path) -> Example:
    spans = []
    for line in path.with_suffix(".ann").read_text(encoding="utf-8").splitlines():
        if line.startswith("T"):
            label, start, end = line.split("\t")[1].split()[:3]
            spans.append((int(start), int(end), label))
    return path.read_bytes().decode("utf-8"), spans


class Writer:
    """Makes up texts. The same chance, the same texts."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._given = sorted(words("given_names"))
        self._surnames = sorted(words("surnames"))
        self._places = sorted(entries("places"))
        self._countries = sorted(entries("countries"))
        self._professions = sorted(entries("professions"))
        self._slots: dict[str, tuple[str | None, Callable[[], str]]] = {
            "person": ("NAME", self.person),
            "first": ("NAME", self._first),
            "surname": ("NAME", self._surname),
            "surnames": ("NAME", lambda: f"{self._surname()} {self._surname()}"),
            "doctor": (
                "NAME",
                lambda: f"{self._one('Dr. ', 'Dra. ', 'Dr ', 'dra. ', 'D. ', 'Dña. ', '')}{self.person()}",
            ),
            "place": ("LOCATION", self.place),
            "country": ("LOCATION", lambda: self._chance.choice(self._countries)),
            "hospital": ("FACILITY", self.hospital),
            "company": ("ORGANIZATION", self._company),
            "street": ("ADDRESS", self.street),
            "zip": ("LOCATION", lambda: f"{self._chance.randint(1, 52):02d}{self._digits(3)}"),
            "date": ("DATE", self._date),
            "year": ("DATE", lambda: str(self._chance.randint(1950, 2026))),
            "month": ("DATE", lambda: self._chance.choice(_MONTHS)),
            "age": ("AGE_BELOW_90", self._age),
            "sex": (None, lambda: self._one("varón", "mujer", "hombre", "niño", "niña", "Varón", "Mujer")),
            "kin": ("FAMILY", lambda: self._one(*_KIN)),
            "job": (None, lambda: self._chance.choice(self._professions)),
            "id": (None, self._id),
            "phone": (None, self._phone),
            "email": (None, self._email),
            "n": (None, lambda: str(self._chance.randint(2, 30))),
            "lab": (None, lambda: f"{self._chance.randint(1, 400)}{self._one('', ',5', ',2', '.1')}"),
            "term": (None, lambda: self._one(*_TERMS)),
            "drug": (None, lambda: self._one(*_DRUGS)),
            "germ": (None, lambda: self._one(*_GERMS)),
            "test": (None, lambda: self._one(*_TESTS)),
            "eponym": (None, lambda: self._one(*_EPONYMS)),
            "service": (None, lambda: self._one(*_SERVICES)),
        }

    def _one(self, *choices: str) -> str:
        return self._chance.choice(choices)

    def _digits(self, count: int) -> str:
        return "".join(str(self._chance.randint(0, 9)) for _ in range(count))

    def _first(self) -> str:
        first = self._chance.choice(self._given).capitalize()
        draw = self._chance.random()
        if draw < 0.15:
            return f"{first} {self._chance.choice(self._given).capitalize()}"
        return f"M.ª {first}" if draw < 0.18 else first

    def _surname(self) -> str:
        name = self._chance.choice(self._surnames) if self._chance.random() < 0.8 else self._made_up()
        name = name.capitalize()
        draw = self._chance.random()
        if draw < 0.06:
            return f"{self._one('de', 'de la', 'del', 'de los')} {name}"
        return f"{name}-{self._chance.choice(self._surnames).capitalize()}" if draw < 0.1 else name

    def _made_up(self) -> str:
        """Return a name that no list has: the beginning of one and the end of another."""
        one, other = self._chance.choice(self._surnames), self._chance.choice(self._surnames)
        return one[: max(2, len(one) // 2)] + other[len(other) // 2 :]

    def person(self) -> str:
        """Return a person's name, as records write it."""
        first, family = self._first(), self._surname()
        draw = self._chance.random()
        if draw < 0.55:
            name = f"{first} {family} {self._surname()}"
        elif draw < 0.8:
            name = f"{first} {family}"
        elif draw < 0.88:
            name = f"{family} {self._surname()}, {first}"
        elif draw < 0.94:
            name = f"{first[0]}. {family}"
        else:
            name = family
        return name.upper() if self._chance.random() < 0.08 else name

    def place(self) -> str:
        """Return a town or region."""
        if self._chance.random() < 0.2:
            return f"{self._one('Villa', 'San ', 'Santa ', 'Puebla de ', 'Alcalá de ', 'Torre', 'Val', 'El ', 'La ')}"
            f"{self._made_up().capitalize()}"
        return self._chance.choice(self._places)

    def hospital(self) -> str:
        """Return a hospital, clinic or health centre."""
        kind = self._one(
            "Hospital", "Hospital Universitario", "Hospital General", "Hospital Clínico", "Clínica", "Centro de Salud",
            "Complejo Hospitalario", "hospital", "Hospital Comarcal", "Policlínica", "Fundación", "Residencia", "Sa"
            "na"
            "to"
            "ri"
            "o", "H"
            "."
            "U"
            ".",
        )  # fmt: skip
        name = self._one(
            self.place(), f"de {self.place()}", f"Virgen de{self._one(' la', 'l', ' los')}"
            f" {self._made_up().capitalize()}",
            f"San {self._first().split()[0]}", f"Santa {self._first().split()[0]}", f"{self.person()}",
            f'"{self.person()}"',
            f"Doctor {self._surname()}", f"Reina {self._first().split()[0]}", f"{self._one('La', 'El')}"
            f" {self._made_up().capitalize()}",
        )  # fmt: skip
        return f"{kind} {name}"

    def _company(self) -> str:
        name = self._made_up().capitalize()
        return self._one(
            f"Laboratorios {name}", f"{name} S.A.", f"{name} Medical", f"{name} & {self._surname()}",
            f"{name} S.L.", f"{name}"
            f" "
            f"P"
            f"h"
            f"a"
            f"r"
            f"m"
            f"a",
            f"{name} Instruments", f"Universidad de {self.place()}", f"Instituto {name}", f"Facultad de Medicina"
            f" de {self.place()}",
            f"Colegio {name}", f"Ayuntamiento de {self.place()}", f"Fundación {name}", f"Talleres {name}",
        )  # fmt: skip

    def street(self) -> str:
        """Return a street with its number."""
        kind = self._one(
            "C/",
            "Calle",
            "c/",
            "Avda.",
            "Av.",
            "Avenida",
            "Paseo",
            "Plaza",
            "Pza.",
            "Ctra.",
            "Camino",
            "Ronda",
            "Carrer",
            "Rúa",
            "",
        )
        name = self._one(
            self.person(), f"de {self.place()}", f"del {self._made_up().capitalize()}", self._surname(), self.place()
        )
        number = self._one(
            f" {self._chance.randint(1, 300)}",
            f", {self._chance.randint(1, 99)}",
            ", s/n",
            " s/n",
            f" nº {self._digits(2)}",
        )
        door = self._one(
            "",
            "",
            "",
            f", {self._chance.randint(1, 9)}º {self._one('A', 'B', 'C', 'D', 'izq', 'dcha')}",
            f", {self._digits(1)}{self._one('A', 'B')}",
        )
        return f"{kind} {name}{number}{door}".strip()

    def _date(self) -> str:
        day, month, year = self._chance.randint(1, 28), self._chance.randint(1, 12), self._chance.randint(1930, 2026)
        name = _MONTHS[month - 1]
        return self._one(
            f"{day:02d}/{month:02d}/{year}", f"{day}-{month}-{year % 100:02d}", f"{day} de {name} de {year}", f"{name}"
            f" de"
            f" "
            f"{year}", f"{day}"
            f" "
            f"d"
            f"e"
            f" "
            f"{name}",
            f"{name} del {year}", f"{name.capitalize()} {year}", f"{day}-{name}-{year}", f"{day}.{month}.{year}",
            str(year), f"a"
            f"ñ"
            f"o"
            f" "
            f"{year}",
        )  # fmt: skip

    def _age(self) -> str:
        count = self._chance.randint(1, 89)
        return self._one(
            f"{count} años", f"{count} años", f"{count} años", f"{self._one(*_NUMBERS)} años", f"{count % 23 + 1}"
            f" meses", f"{count % 28 + 1}"
            f" "
            f"d"
            f"í"
            f"a"
            f"s",
            f"{self._one(*_NUMBERS)} meses", f"{count} años y {count % 11 + 1} meses", f"{count} años y medio",
        )  # fmt: skip

    def _id(self) -> str:
        return self._one(
            self._digits(6), self._digits(8), f"{self._digits(2)} {self._digits(8)} {self._digits(2)}",
            f"{self._digits(8)}"
            f"{self._one('A', 'K', 'Z')}",
            f"{self._digits(2)} {self._digits(2)} {self._digits(5)}", f"nhc-{self._digits(6)}", f"X"
            f"{self._digits(7)}"
            f"{self._one('L', 'M')}",
        )  # fmt: skip

    def _phone(self) -> str:
        return self._one(
            f"{self._one('6', '9', '7')}{self._digits(8)}", f"9{self._digits(2)} {self._digits(3)} {self._digits(3)}",
            f"6{self._digits(2)} {self._digits(2)} {self._digits(2)} {self._digits(2)}", f"+34 9{self._digits(8)}",
        )  # fmt: skip

    def _email(self) -> str:
        house = self._one("correo.example", "salud.example", "hospital.example")
        return f"{self._made_up()}{self._one('', '.', '_')}{self._digits(2)}@{house}"

    def expand(self, template: str) -> Example:
        """Fill the slots of a template."""
        text, spans = "", []
        for part in re.split(r"(\{\w+\})", template):
            if part.startswith("{"):
                entity, make = self._slots[part[1:-1]]
                value = make()
                if entity is not None:
                    spans.append((len(text), len(text) + len(value), entity))
                text += value
            else:
                text += part
        return text, spans

    def note(self) -> Example:
        """Return a text of several sentences, or of none that identifies anybody."""
        harmless = self._chance.random() < 0.3
        text, spans = "", []
        for _ in range(self._chance.randint(1, 7)):
            templates = HARMLESS if harmless or self._chance.random() < 0.35 else IDENTIFYING
            more, places = self.expand(self._chance.choice(templates))
            spans += [(len(text) + start, len(text) + end, entity) for start, end, entity in places]
            text += more + self._one(" ", " ", "\n")
        if self._chance.random() < 0.03:
            text = text.lower()
        return text, spans

    def otherwise(self, example: Example) -> Example:
        """Return a text with other names, places, hospitals and streets in it."""
        text, spans = example
        made, places, end_before = "", [], 0
        for start, end, entity in sorted(spans):
            if start < end_before:
                continue
            value = text[start:end]
            if self._chance.random() < 0.6:
                value = self._instead(value, entity)
            made += text[end_before:start]
            places.append((len(made), len(made) + len(value), entity))
            made += value
            end_before = end
        return made + text[end_before:], places

    def _instead(self, value: str, entity: str) -> str:
        if entity == "NAME":
            return self._first() if " " not in value else self.person()
        if entity == "LOCATION":
            return value if any(map(str.isdigit, value)) else self.place()
        if entity == "FACILITY":
            return self.hospital() if " " in value else value
        if entity == "ADDRESS":
            return self.street()
        return value


_MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
    "diciembre",
)  # fmt: skip
_NUMBERS = (
    "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "quince", "veinte",
    "treinta y dos",
)  # fmt: skip
_KIN = (
    "madre", "padre", "hermano", "hermana", "hijo", "hija", "hijos", "abuela materna", "abuelo paterno",
    "tío materno", "tía paterna", "padres", "dos hermanos", "tres hijos", "esposa", "marido", "prima materna",
    "sobrino", "cuñado", "nieta", "familia", "hermano mayor",
)  # fmt: skip
_TERMS = (
    "neumonía", "insuficiencia renal", "hipertensión arterial", "diabetes mellitus tipo 2", "dolor abdominal",
    "fiebre", "disnea", "cefalea", "fractura de cadera", "anemia", "cardiopatía isquémica", "asma", "hepatitis C",
    "lumbalgia", "cólico renal", "uveítis", "carcinoma de colon", "linfoma", "sepsis", "trombosis venosa profunda",
    "hipotiroidismo", "fibrilación auricular", "tumor vesical",
)  # fmt: skip
_DRUGS = (
    "Paracetamol", "omeprazol", "Sintrom", "enalapril", "metformina", "amoxicilina-clavulánico", "Adiro",
    "furosemida", "Urbason", "domperidona", "lercanidipino", "tiapride", "Mitoxantrone", "Dexametasona", "ibuprofeno",
    "Lantus", "Monocryl", "Vicryl", "Pentax", "Nolotil", "Augmentine®", "ciclosporina", "tacrolimus", "prednisona",
    "Ventolin", "levotiroxina", "Rituximab", "heparina",
)  # fmt: skip
_GERMS = (
    "Bartonella", "Coxiella", "Legionella", "Chlamydia", "Mycoplasma", "Acinetobacter baumannii", "E. coli",
    "Klebsiella", "Candida albicans", "Pseudomonas", "Brucella", "Salmonella", "Helicobacter pylori", "S. aureus",
    "Aspergillus fumigatus", "Leishmania", "Toxoplasma gondii",
)  # fmt: skip
_TESTS = (
    "AgHBs", "IFI", "ELISA", "PCR", "WAIS-III", "VIH", "CMV", "CD34", "CD117", "Ki-67", "TAC", "RMN", "PET-TC",
    "CPRE", "ECG", "BACTEC", "T-score", "OCT", "Ecocardiografía", "Ecografía", "Gammagrafía", "Colonoscopia",
    "Biopsia", "Hemograma", "Coagulación", "EEG", "FISH", "HLA-B27", "ANCA", "CA 125",
)  # fmt: skip
_EPONYMS = (
    "enfermedad de Parkinson", "enfermedad de Crohn", "síndrome de Down", "signo de Babinski", "escala de Glasgow",
    "sonda de Foley", "test de Coombs", "maniobra de Valsalva", "fondo de saco de Douglas", "mal de Pott",
    "síndrome de Sjögren", "tinción de Ziehl-Neelsen", "virus de Epstein-Barr", "linfoma de Hodgkin",
    "contractura de Dupuytren", "clasificación de Child-Pugh", "índice de Barthel", "signo de Murphy",
    "esófago de Barrett", "sarcoma de Kaposi", "tiroiditis de Hashimoto", "aguja de Kirschner", "criterios de Duke",
    "prueba de Mantoux", "cuerpos de Lewy", "síndrome de Guillain-Barré", "enfermedad de Graves-Basedow",
    "trompa de Falopio", "asa de Henle", "punto de McBurney", "test de Papanicolaou",
)  # fmt: skip
_SERVICES = (
    "Urgencias", "Urología", "Medicina Interna", "Cirugía General", "Neurología", "Oftalmología", "Pediatría",
    "Nefrología", "Cirugía Plástica", "Anatomía Patológica", "UCI", "Digestivo", "Cirugía Maxilofacial",
    "Oncología Médica", "Atención Primaria", "Radiodiagnóstico",
)  # fmt: skip

# Written here; no text of any corpus stands in them.
IDENTIFYING = (
    "Paciente {person}, {sex} de {age}, natural de {place}, que consulta por {term}.",
    "{sex} de {age} de edad, {job}, que ingresa el {date} en {service} por {term}.",
    "Acude acompañada de su {kin}, {first}, que refiere {term} desde {date}.",
    "Fue trasladado desde el {hospital} al {hospital} el día {date}.",
    "En {date} fue diagnosticado de {term} en el {hospital} de {place}.",
    "Antecedentes: {kin} con {term} y {kin} fallecido a los {age}.",
    "Intervenido en {year} de {term} y en {year} de {term}.",
    "Comentado con {doctor}, del servicio de {service}, que recomienda {drug}.",
    "El Sr. {surname} vive en {place} con su {kin}; trabaja como {job}.",
    "La Sra. {surnames} reside en {street}, {zip} {place}.",
    "Me llamo {person} y tengo {age}; mi médico, {doctor}, me ha recetado {drug}.",
    "Natural de {country}, residente en {place} desde {year}.",
    "Viaje reciente a {country} y {place}, con regreso en {month}.",
    "De profesión {job}, casado, con {kin} sanos.",
    "Trabaja de {job} en {company}.",
    "{drug} ({company}, {place}, {country}) cada {n} horas.",
    "Nombre: {first}. Apellidos: {surnames}. NHC: {id}. Domicilio: {street}. {zip} {place}.",
    "Contacto: {person}, tel. {phone}, correo {email}.",
    "Remitido por: {doctor}. Servicio de {service}. {hospital}. {street}. {zip} {place} ({country}). E-mail: {email}",
    "Firmado: {doctor}, nº col. {id}, {hospital}, {place}, a {date}.",
    "Hola, soy {person}. ¿Puede decirme los resultados de la analítica del {date}?",
    "¿Qué tratamiento daría a {person}, {sex} de {age} con {term}?",
    "{first} refiere que su {kin} padece {term}.",
    "Revisión en consulta el {date} con {doctor}.",
    "Recién nacido de {age}, {kin} de {age}, primera gestación.",
    "A los {age} de edad comenzó con {term}; a los {age} se le diagnosticó {eponym}.",
    "Presentó {term} en {month} de ese año y falleció en {date}.",
    "Según consta en el informe del {hospital}, firmado por {doctor}.",
    "Procede del {hospital}. Su {kin} {person} autoriza el ingreso.",
    "PACIENTE: {person} EDAD: {age} FECHA: {date} HOSPITAL: {hospital}",
    "Atendida por la enfermera {person} y por {doctor} en {hospital}.",
    "Empleado de {company}, en la planta de {place}.",
    "Llamar a {first} {surname} al {phone} si empeora.",
    "{person} ({age}): {term}. {person} ({age}): {term}.",
    "Estudió en {company} y vivió en {country} hasta {year}.",
    "Se cita en {hospital}, {street}, el {date}.",
    "La {kin} y el {kin} del paciente están sanos.",
    "Se solicitó valoración por {service} a {doctor}, y alta a {place}.",
)
HARMLESS = (
    "Serologías para {germ}, {germ}, {germ} y {germ} negativas.",
    "{test} y {test} sin alteraciones; {test} positivo ({test}).",
    "Se solicitó {test} ({test}) y cultivo, en el que creció {germ}.",
    "Tratamiento: {drug} ({lab} mg/{n} h), {drug} y {drug} a dosis bajas.",
    "• {test}: {lab}. • {test}: normal. Pruebas de función ({test}): {lab}/{n}.",
    "{test} – {term} frente a {term}. Criterios de {test}: {n}/5.",
    "Duró {n} meses y medio; a los {n} días, alta. Apgar {n}/9 a los 5 minutos.",
    "Peso de {lab} gramos, talla de {lab} cm, {n} kilogramos perdidos en {n} semanas.",
    "Hace más de {n} años, y durante {n} años y medio, tuvo {term}.",
    "Su médico de familia solicitó {test} por {term}.",
    "¿Cuál es la dosis de {drug} en la {eponym}?",
    "Se inicia {drug} {lab} mg cada {n} horas durante {n} días.",
    "Analítica: Hb {lab} g/dl, leucocitos {lab}, creatinina {lab} mg/dl, PCR {lab}.",
    "La exploración mostró {eponym} positivo sin otros hallazgos.",
    "Se diagnosticó de {eponym} y se trató con {drug}.",
    "TC abdominal: lesión de {lab} x {n} mm en lóbulo hepático derecho.",
    "Tras {n} años de evolución persiste la {term}.",
    "Hace {n} meses que presenta {term} y {term}.",
    "Durante los últimos {n} días ha tenido fiebre de {n} grados.",
    "El Servicio de {service} recomienda control en {n} semanas.",
    "Se realizó interconsulta a {service} y a {service}.",
    "Ecografía: riñones de {lab} mm, sin dilatación.",
    "Colesterol {lab} mg/dl, LDL {lab} mg/dl, TSH {lab} mUI/l.",
    "Diagnóstico: {term}. Tratamiento: {drug}.",
    "Exploración física: TA {n}0/{n} mmHg, FC {lab} lpm, SatO2 {n} %.",
    "¿Qué diferencia hay entre {term} y {eponym}?",
    "Con el diagnóstico de {eponym} se practicó biopsia; el estudio con CD20 y Ki-67 fue positivo.",
    "Resonancia Magnética: hiperintensidad en T2, compatible con {term}.",
    "Según la guía de la Sociedad Española de {service}, el tratamiento es {drug}.",
    "Evolución favorable, sin complicaciones, con {drug} a demanda.",
    "Resuma los efectos adversos de {drug} en la {term}.",
    "Electrocardiograma en ritmo sinusal a {lab} lpm. Radiografía de Tórax normal.",
    "Serología para VHB, VHC y VIH negativa. Test de {service} sin interés.",
    "Grado II de la clasificación de Clavien; ECOG {n}; Gleason 3+4.",
    "A los {n} días de la cirugía se retiró el drenaje; alta al {n}º día.",
    "Se revisó a los {n} meses y al cabo de dos años de seguimiento no había recidiva.",
    "Antecedentes familiares sin interés. No alergias medicamentosas conocidas.",
    "Motivo de consulta: {term}. Enfermedad actual: {term} de {n} días de evolución.",
    "Staphylococcus aureus sensible a {drug}; Escherichia coli en urocultivo.",
    "Se administraron {n} ciclos de {drug} con respuesta parcial.",
    "No se evidenciaron adenopatías. Abdomen blando y depresible. Blumberg negativo.",
    "Los pacientes con {term} tienen mayor riesgo de {term}.",
)


def examples(corpus: Path, seed: int = SEED) -> list[Example]:
    """Return all texts to train from."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    writer = Writer(chance)
    real = read_corpus(corpus)
    return [*real, *(writer.otherwise(example) for example in real), *(writer.note() for _ in range(_MADE_UP))]


def ordinary_words(texts: list[Example], chance: random.Random) -> set[str]:
    """Return most words that stand in lower case in places that identify nobody.

    The others are left out so that the network meets ordinary words that it does not know, as it will in other texts.
    """
    found: set[str] = set()
    for text, spans in texts:
        kept = list(text)
        for start, end, _ in spans:
            kept[start:end] = " " * (end - start)
        found.update(word for word in re.findall(r"[^\W\d_]{2,}", "".join(kept)) if word.islower())
    return {word for word in sorted(found) if chance.random() < _KNOWN}


def train(corpus: Path, folder: Path, *, seed: int = SEED, steps: int = _STEPS) -> Path:
    """Train the Spanish model from MEDDOCAN's training part and write it into `folder`."""
    texts = examples(corpus, seed)
    ordinary = ordinary_words(texts, random.Random(seed))  # noqa: S311 - not for secrets
    made = {
        "generator": sha256(Path(__file__).read_bytes()).hexdigest(),
        "corpus": "MEDDOCAN, training part (Marimon et al. 2019), CC BY 4.0",
    }
    return train_model(
        texts, folder, language="es", seed=seed, steps=steps, ordinary=ordinary, bounds=BOUNDS, made=made
    )


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(sys.argv[2]))
