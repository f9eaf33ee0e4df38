"""Texts for the Spanish model: the training part of MEDDOCAN, the same with other names, and notes made up here.

MEDDOCAN (Marimon et al. 2019, https://github.com/PlanTL-GOB-ES/SPACCC_MEDDOCAN, CC BY 4.0) holds clinical cases in
Spanish with made-up identifiers. Its training part is not shipped: its folder, of .txt and .ann files as published, is
named when training. A file of rows {"text", "spans": [[start, end, label], ...]} will do as well.

    python -m benchmarks.redaction_training.spanish corpus/train/brat agent/redaction/models/es
"""

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from agent.redaction.models.train import Example, train_model
from agent.redaction.rules.es.word_lists import entries, words
from benchmarks.redaction_training.lists import read_entries

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
    examples = (
        [*_rows(path)] if path.is_file() else [_brat(text) for text in sorted(path.glob("*.txt"))]
    )
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
                lambda: (
                    f"{self._one('Dr. ', 'Dra. ', 'Dr ', 'dra. ', 'D. ', 'Dña. ', '')}{self.person()}"
                ),
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
            "sex": (
                None,
                lambda: self._one("varón", "mujer", "hombre", "niño", "niña", "Varón", "Mujer"),
            ),
            "kin": ("FAMILY", lambda: self._one(*_KIN)),
            "job": (None, lambda: self._chance.choice(self._professions)),
            "id": (None, self._id),
            "phone": (None, self._phone),
            "email": (None, self._email),
            "n": (None, lambda: str(self._chance.randint(2, 30))),
            "lab": (
                None,
                lambda: f"{self._chance.randint(1, 400)}{self._one('', ',5', ',2', '.1')}",
            ),
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
        name = (
            self._chance.choice(self._surnames) if self._chance.random() < 0.8 else self._made_up()
        )
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
            beginning = self._one(
                "Villa", "San ", "Santa ", "Puebla de ", "Alcalá de ", "Torre", "Val", "El ", "La "
            )
            return beginning + self._made_up().capitalize()
        return self._chance.choice(self._places)

    def hospital(self) -> str:
        """Return a hospital, clinic or health centre."""
        kind = self._one(
            "Hospital", "Hospital Universitario", "Hospital General", "Hospital Clínico", "Clínica", "Centro de Salud",
            "Complejo Hospitalario", "hospital", "Hospital Comarcal", "Policlínica", "Fundación", "Residencia",
            "Sanatorio", "H.U.",
        )  # fmt: skip
        name = self._one(
            self.place(), f"de {self.place()}",
            f"Virgen de{self._one(' la', 'l', ' los')} {self._made_up().capitalize()}",
            f"San {self._first().split()[0]}", f"Santa {self._first().split()[0]}",
            self.person(), f'"{self.person()}"', f"Doctor {self._surname()}", f"Reina {self._first().split()[0]}",
            f"{self._one('La', 'El')} {self._made_up().capitalize()}",
        )  # fmt: skip
        return f"{kind} {name}"

    def _company(self) -> str:
        name = self._made_up().capitalize()
        return self._one(
            f"Laboratorios {name}", f"{name} S.A.", f"{name} Medical", f"{name} & {self._surname()}",
            f"{name} S.L.", f"{name} Pharma", f"{name} Instruments", f"Universidad de {self.place()}",
            f"Instituto {name}", f"Facultad de Medicina de {self.place()}",
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
            self.person(),
            f"de {self.place()}",
            f"del {self._made_up().capitalize()}",
            self._surname(),
            self.place(),
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
        day, month, year = (
            self._chance.randint(1, 28),
            self._chance.randint(1, 12),
            self._chance.randint(1930, 2026),
        )
        name = _MONTHS[month - 1]
        return self._one(
            f"{day:02d}/{month:02d}/{year}", f"{day}-{month}-{year % 100:02d}", f"{day} de {name} de {year}",
            f"{name} de {year}", f"{day} de {name}", f"{name} del {year}", f"{name.capitalize()} {year}",
            f"{day}-{name}-{year}", f"{day}.{month}.{year}", str(year), f"año {year}",
        )  # fmt: skip

    def _age(self) -> str:
        count = self._chance.randint(1, 89)
        return self._one(
            f"{count} años", f"{count} años", f"{count} años", f"{self._one(*_NUMBERS)} años",
            f"{count % 23 + 1} meses", f"{count % 28 + 1} días", f"{self._one(*_NUMBERS)} meses",
            f"{count} años y {count % 11 + 1} meses", f"{count} años y medio",
        )  # fmt: skip

    def _id(self) -> str:
        return self._one(
            self._digits(6), self._digits(8), f"{self._digits(2)} {self._digits(8)} {self._digits(2)}",
            f"{self._digits(8)}{self._one('A', 'K', 'Z')}", f"{self._digits(2)} {self._digits(2)} {self._digits(5)}",
            f"nhc-{self._digits(6)}", f"X{self._digits(7)}{self._one('L', 'M')}",
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


_MONTHS = read_entries("words/spanish/months")
_NUMBERS = read_entries("words/spanish/numbers")
_KIN = read_entries("words/spanish/kin")
_TERMS = read_entries("words/spanish/terms")
_DRUGS = read_entries("words/spanish/drugs")
_GERMS = read_entries("words/spanish/germs")
_TESTS = read_entries("words/spanish/tests")
_EPONYMS = read_entries("words/spanish/eponyms")
_SERVICES = read_entries("words/spanish/services")

# Written here; no text of any corpus stands in them.
IDENTIFYING = read_entries("templates/spanish/identifying")
HARMLESS = read_entries("templates/spanish/harmless")


def examples(corpus: Path, seed: int = SEED) -> list[Example]:
    """Return all texts to train from."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    writer = Writer(chance)
    real = read_corpus(corpus)
    return [
        *real,
        *(writer.otherwise(example) for example in real),
        *(writer.note() for _ in range(_MADE_UP)),
    ]


def generator_digest(seed: int) -> str:
    """Return a digest of the first 500 made-up notes and their places, however the files that make them are written."""
    writer = Writer(random.Random(seed))  # noqa: S311 - not for secrets
    return sha256(repr([writer.note() for _ in range(500)]).encode()).hexdigest()


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
        "generator": generator_digest(seed),
        "corpus": "MEDDOCAN, training part (Marimon et al. 2019), CC BY 4.0",
    }
    return train_model(
        texts,
        folder,
        language="es",
        seed=seed,
        steps=steps,
        ordinary=ordinary,
        bounds=BOUNDS,
        made=made,
    )


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(sys.argv[2]))
