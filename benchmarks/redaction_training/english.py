# ruff: noqa: E501 - formats, one a line
"""Made-up English texts with marked places, from which the English model learns.

Clinical notes and questions of many kinds, and everyday English of any kind: letters, chats, news, addresses, tables, speech
without capitals. Templates are of our own making; what stands in their braces is drawn by `people`, `clinic` and below.
A template is a line of a file: `[a|b]` is a choice, also inside another; `{kind}` a drawn piece; `\\n` a line break; ❴ ❵ and
⟦ ⟧ are braces and brackets of the text itself, ⇥ a tab. Many texts identify nobody.
"""

import gzip
import hashlib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.redaction.models.model import USUAL, USUAL_NUMBER
from agent.redaction.models.train import Example
from agent.redaction.rules.en.names import words
from benchmarks.redaction_training import clinic, shapes, shorthand, technical
from benchmarks.redaction_training.lists import read_entries
from benchmarks.redaction_training.people import Chain, InventedPeople, Piece
from benchmarks.redaction_training.registrations import (
    write_plate,
    write_serial,
    write_tail_number,
    write_user_name,
)
from benchmarks.redaction_training.shapes import ShapeWriter

# With people, places and numbers, of clinics and of anything else; and without.
CLINICAL = read_entries("templates/english/clinical")
EVERYDAY = read_entries("templates/english/everyday")
HARMLESS = read_entries("templates/english/harmless")
HARMLESS_EVERYDAY = read_entries("templates/english/harmless_everyday")
# Whole documents of hospitals and around them; about half identify nobody.
DOCUMENTS = read_entries("templates/english/documents")

KINDS = ("NAME", "LOCATION", "FACILITY", "ORGANIZATION", "ADDRESS", "DATE", "ID")

# Kinds of which one identifier may stand wherever another does. A name may be of a child or a family, a date a day.
_EXCHANGED = ("FACILITY", "ORGANIZATION", "LOCATION")

_BRACES = str.maketrans("❴❵⟦⟧⇥", "{}[]\t")
# A slot, `{name}`, or an identifier as an author wrote it, with its kind: `{FACILITY=Harlan Creek Medical Center}`.
_MARK = re.compile(r"[\[|\]]|\{(\w+)(?:=([^{}]+))?\}")
_MONTHS = read_entries("words/english/months")
_SPOKEN = read_entries("words/english/spoken")
_SPOKEN_DAYS = read_entries("words/english/spoken_days")
_DAYS = read_entries("words/english/days")
_FORMS_OF_ADDRESS = read_entries("words/english/forms_of_address")
_LITTLE = read_entries("words/english/little_words")


_VERBS = read_entries("words/english/verbs")
_SHORT = read_entries("words/english/abbreviations")


_COUNTRIES = read_entries("words/english/countries")
_PEOPLES = (
    *read_entries("words/english/peoples"),
    *sorted(people.capitalize() for people in words("nationalities")),
)
_UNITS = read_entries("words/english/units")
_GREEK = read_entries("words/english/greek")


@dataclass(frozen=True, slots=True)
class _Slot:
    kind: str
    written: str | None = None  # what the template's author wrote, of one of `KINDS`


@dataclass(frozen=True, slots=True)
class _Choice:
    options: "tuple[_Parts, ...]"


_Parts = tuple[str | _Slot | _Choice, ...]


@cache
def parsed(template: str) -> _Parts:
    """Return a template in parts. A bar outside all brackets stands for itself.

    Raises:
        ValueError: a bracket is not closed, or an identifier is of no kind in `KINDS`.
    """
    open_choices: list[list[list[str | _Slot | _Choice]]] = [[[]]]
    end = 0
    for mark in _MARK.finditer(template):
        now = open_choices[-1][-1]
        if mark.start() > end:
            now.append(template[end : mark.start()])
        end = mark.end()
        if mark.group(2) and mark.group(1) not in KINDS:
            raise ValueError(f"a template has an identifier of an unknown kind: {mark.group()}")
        if mark.group(1):
            now.append(_Slot(mark.group(1), mark.group(2)))
        elif mark.group() == "[":
            open_choices.append([[]])
        elif len(open_choices) == 1:
            now.append(mark.group())
        elif mark.group() == "|":
            open_choices[-1].append([])
        else:
            options = open_choices.pop()
            open_choices[-1][-1].append(_Choice(tuple(tuple(option) for option in options)))
    if len(open_choices) != 1:
        raise ValueError(f"a template has a bracket that is never closed: {template}")
    return (*open_choices[0][0], template[end:])


@cache
def list_written(kind: str) -> tuple[str, ...]:
    """Return the identifiers of one kind that the authors of the documents wrote."""
    return tuple(
        sorted(
            {
                mark.group(2)
                for template in DOCUMENTS
                for mark in _MARK.finditer(template)
                if mark.group(1) == kind and mark.group(2)
            }
        )
    )


@cache
def harmless_sentences() -> tuple[str, ...]:
    """Return sentences of medical books and abstracts that identify nobody (see the notice beside them)."""
    path = Path(__file__).parent / "words" / "harmless_sentences.txt.gz"
    return tuple(gzip.decompress(path.read_bytes()).decode().splitlines())


def words_of_templates() -> tuple[str, ...]:
    """Return the words that stand in the templates themselves, in lower case, sorted: common ones."""
    text = " ".join(
        _MARK.sub(" ", template)
        for template in (*CLINICAL, *EVERYDAY, *HARMLESS, *HARMLESS_EVERYDAY)
    )
    return tuple(
        sorted(
            set(re.findall(r"(?<![\w'])[a-z]{2,}(?![\w'])", text)) & set(_list("ordinary_english"))
        )
    )


@cache
def _list(name: str) -> tuple[str, ...]:
    path = Path(__file__).parent / "words" / f"{name}.txt.gz"
    return tuple(gzip.decompress(path.read_bytes()).decode().split())


def ordinary_words(*, rare_terms: bool = False) -> tuple[str, ...]:
    """Return the words that name nobody by themselves, in lower case: of English, of clinics, and what is sold there.

    With `rare_terms`, seldom terms and drugs are among them. See the notice beside the lists. Letters that stand for something (MRI) are among them.
    """
    sold = {
        word.lower()
        for name in shorthand.BRANDS
        for word in name.split()
        if word.isalpha() and len(word) > 2
    }
    letters = {
        word.lower()
        for word in (*_list("medical_english"), *shorthand.CAPITALS)
        if word.isupper() and word.isalpha()
    }
    pools = (shorthand.EPONYMS, shorthand.WORD_NAMES)
    people = {name.lower() for pool in pools for word in pool for name in word.split()}
    people |= words("given_names") | words("surnames") | words("places")
    seldom = (*shapes.RARE_DRUGS, *shapes.RARE_TERMS) if rare_terms else ()
    listed = (*clinic.DRUGS, *seldom)
    terms = {term.lower() for term in listed if term.isalpha()}
    ordinary = {
        *_list("ordinary_english"),
        *(word for word in _list("medical_english") if word.islower()),
    }
    return tuple(sorted(ordinary | terms | (letters | sold) - people))


def generator_digest(seed: int, share_of_shapes: float = 0, share_of_documents: float = 0) -> str:
    """Return a digest of the first 500 texts and their places: of what is generated, not of how it is written down."""
    first = list(examples(seed, 500, share_of_shapes, share_of_documents))
    return hashlib.sha256(repr(first).encode()).hexdigest()


def examples(
    seed: int, count: int, share_of_shapes: float = 0, share_of_documents: float = 0
) -> Iterator[Example]:
    """Yield made-up texts with their places.

    Args:
        seed: equal seeds give equal texts.
        count: number of texts.
        share_of_shapes: share of texts in the shapes of `shapes`.
        share_of_documents: share of whole documents among the other texts.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    writer = _Writer(chance, share_of_shapes, share_of_documents)
    for _ in range(count):
        yield writer.example()


class _Writer:
    def __init__(
        self, chance: random.Random, share_of_shapes: float = 0, share_of_documents: float = 0
    ) -> None:
        self.chance = chance
        self._share_of_shapes = share_of_shapes
        self._share_of_documents = share_of_documents
        self.words = _list("ordinary_english")
        self._sentences = harmless_sentences()
        self._medical = tuple(word for word in _list("medical_english") if word.islower())
        self._abbreviations = tuple(word for word in _list("medical_english") if word.isupper())
        self._medical_chain = Chain([word for word in self._medical if len(word) > 6])
        self.people = InventedPeople(chance, self.words)
        self._word_chain = Chain([word for word in self.words if len(word) > 6][::5])
        self._common = words_of_templates()
        self._brand_chain = Chain([brand for brand in shorthand.BRANDS if brand.isalpha()])
        self._drug_chain = Chain([drug for drug in clinic.DRUGS if drug.isalpha()])
        self._rare_chain = Chain([*shapes.RARE_TERMS, *shapes.RARE_DRUGS])
        people = self.people
        lists = {
            "condition": clinic.CONDITIONS, "thing": clinic.THINGS, "agency": clinic.AGENCIES, "symptom": clinic.SYMPTOMS,
            "procedure": clinic.PROCEDURES, "specialty": clinic.SPECIALTIES, "role": clinic.ROLES, "family": clinic.FAMILY,
            "short": shorthand.SHORT_WORDS, "language": shorthand.LANGUAGES, "trial": shorthand.TRIALS,
            "scaleword": shorthand.SCALES, "scaleval": shorthand.SCALE_VALUES, "belong": shorthand.BELONGING,
            "job": clinic.JOBS, "lab": clinic.LABS, "header": clinic.HEADERS,
            "gene": shapes.GENES, "protein": shapes.PROTEINS, "rare": shapes.RARE_TERMS, "raredrug": shapes.RARE_DRUGS,
            "place_eponym": shapes.PLACE_EPONYMS, "placescale": shapes.PLACE_SCALES, "study": shapes.STUDY_WORDS, "clinsig": technical.SIGNIFICANCE,
            "landname": _COUNTRIES, "People": _PEOPLES,
        }  # fmt: skip
        self._shapes = ShapeWriter(chance, self.expand)
        self._slots: dict[str, Callable[[], list[Piece]]] = {
            "name": lambda: [(people.full(), "NAME")],
            "person": self._person,
            "first": lambda: [(people.given(), "NAME")],
            "last": lambda: [(people.family(), "NAME")],
            "doctor": lambda: [(self._doctor(), "NAME")],
            "titled": lambda: [(people.titled(), "NAME")],
            "signed": people.signed,
            "initials": lambda: [(f"{people.given()[0]}.{people.family()[0]}.", "NAME")],
            "city": lambda: [(people.city(), "LOCATION")],
            "place": self._place,
            "country": lambda: [(people.country(), "LOCATION")],
            "region": lambda: [(people.region(), "LOCATION")],
            "company": lambda: [(people.company(), "ORGANIZATION")],
            "facility": lambda: [(people.facility(), "FACILITY")],
            "address": lambda: [(people.address(), "ADDRESS")],
            "street": lambda: [(people.street(), "ADDRESS")],
            "date": lambda: [(self.date(), "DATE")],
            "id": lambda: [(self.identifier(), "ID")],
            "phone": lambda: [(people.phone(), "ID")],
            "email": self._email,
            "zip": lambda: [(people.postcode(), "ADDRESS")],
            "drug": self._drug,
            "abbr": lambda: [
                (chance.choice(_SHORT) if chance.random() < 0.7 else self._letters(), None)
            ],
            "medical": lambda: [(self._clinical_word(), None)],
            "prose": lambda: [(self._prose(chance.randint(3, 14)), None)],
            "measure": lambda: [(self._measure(), None)],
            "verb": lambda: [(chance.choice(_VERBS), None)],
            "eponym": self._eponym,
            "unit": lambda: [(people.unit(), "ADDRESS")],
            "foreign": lambda: [(people.foreign_street(), "ADDRESS")],
            "mil": lambda: [
                (
                    f"{chance.randint(0, 23):02}{chance.choice((0, 15, 20, 30, 40, 45, chance.randint(0, 59))):02}",
                    None,
                )
            ],
            "scale": lambda: [
                (
                    f"{chance.choice(shorthand.SCALES)}{chance.choice((' ', ' ', ' ', ' of ', ': ', '-', ' score '))}{chance.choice(shorthand.SCALE_VALUES)}",
                    None,
                )
            ],
            "caps": lambda: [(self._capitals(), None)],
            "brand": self._brand,
            "eponymbare": lambda: [(self._eponym_alone(), None)],
            "eponymword": lambda: [
                (
                    f"{self._eponym_alone()}{chance.choice(('', '', chr(39) + 's'))} {chance.choice(shorthand.EPONYM_ENDS)}",
                    None,
                )
            ],
            "systemplain": lambda: [(chance.choice(shorthand.SYSTEMS), None)],
            "system": lambda: [(self._system(), "FACILITY")],
            "ward": lambda: [(self._ward(), "FACILITY")],
            "transport": lambda: [(self._transport(), "ORGANIZATION")],
            "church": lambda: [(self._church(), "ORGANIZATION")],
            "pharmacy": lambda: [(people.facility(), "FACILITY")],
            "nick": lambda: [
                (
                    people.given()
                    if chance.random() < 0.4
                    else chance.choice(self.words).capitalize(),
                    "NAME",
                )
            ],
            "letter": lambda: [(chance.choice("ABCDEFGHJKLMNOPRSTVWYZ"), "NAME")],
            "wordname": lambda: [(chance.choice(shorthand.WORD_NAMES), "NAME")],
            "host": lambda: [(re.sub(r"\W", "", people.company().lower()) or "ward", None)],
            "credential": lambda: [(people.signed()[1][0].strip(" ,"), None)],
            "state": lambda: [(people.state(), "LOCATION")],
            "statename": lambda: [(people.state_name(), "LOCATION")],
            "monthday": lambda: [(f"{chance.randint(1, 12)}/{chance.randint(1, 28)}", "DATE")],
            "dayalone": lambda: [(self._day_of_month(), "DATE")],
            "month": lambda: [(chance.choice(_MONTHS), "DATE")],
            "ordinal": lambda: [(chance.choice(_SPOKEN_DAYS), "DATE")],
            "spelled": lambda: [
                (" ".join(chance.choice(_SPOKEN) for _ in range(chance.randint(3, 8))), "ID")
            ],
            "word": lambda: [(self._word(), None)],
            "Word": lambda: [(self._word().capitalize(), None)],
            "phrase": lambda: [(self._phrase(chance.randint(1, 4)), None)],
            "clause": lambda: [(self._phrase(chance.randint(4, 12)), None)],
            "n": lambda: [(str(chance.randint(1, 12)), None)],
            "nn": lambda: [(str(chance.randint(2, 500)), None)],
            "age": lambda: [(str(chance.randint(1, 89)), None)],
            "year": lambda: [(str(chance.randint(1950, 2027)), None)],
            "day": lambda: [(chance.choice(_DAYS), None)],
            "clock": lambda: [(f"{chance.randint(0, 23)}:{chance.randint(0, 59):02}", None)],
            "sex": lambda: [
                (
                    chance.choice(
                        [
                            "male",
                            "female",
                            "man",
                            "woman",
                            "M",
                            "F",
                            "boy",
                            "girl",
                            "gentleman",
                            "lady",
                            "patient",
                        ]
                    ),
                    None,
                )
            ],
            **{name: self._from(values) for name, values in lists.items()},
            "clip": lambda: [(chance.choice(shapes.CLIPPED_WORDS), None)],
            "Clip": lambda: [(chance.choice(shapes.CLIPPED_WORDS).capitalize(), None)],
            "Short": lambda: [(chance.choice(shorthand.SHORT_WORDS).capitalize(), None)],
            "plainfacility": lambda: [(people.plain_facility(), "FACILITY")],
            "Rare": lambda: [(self._rare_term().capitalize(), None)],
            "Raredrug": lambda: [(chance.choice(shapes.RARE_DRUGS).capitalize(), None)],
            "Medical": lambda: [(self._clinical_word().capitalize(), None)],
            "STUDY": lambda: [(chance.choice(shapes.STUDY_WORDS).upper(), None)],
            "variant": lambda: [(technical.write_variant(chance), None)],
            "vent": lambda: [(technical.write_ventilator_setting(chance), None)],
            "code": lambda: [(technical.write_code(chance), None)],
            "codeword": lambda: [(technical.write_column_name(chance), None)],
            "CODEWORD": lambda: [(self._constant_name(), None)],
            "spokenvalue": lambda: [(technical.write_spoken_value(chance), None)],
            "letterword": lambda: [(chance.choice("ABCDX"), None)],
            "weekdaydate": lambda: [(self._weekday_date(), "DATE")],
            "kinname": lambda: [(f"{chance.choice(_FORMS_OF_ADDRESS)} {people.given()}", "NAME")],
            "nameunder": lambda: [(f"{people.given()}_{people.family()}".lower(), "NAME")],
            "nth": lambda: [(_write_ordinal(chance.randint(1, 31)), "DATE")],
            "threepart": lambda: [(people.three_part(), "NAME")],
            "foreignfirst": lambda: [(people.foreign_given(), "NAME")],
            "orgplain": lambda: [(people.plain_organisation(), "ORGANIZATION")],
            "jail": lambda: [(people.jail(), "FACILITY")],
            "wardplain": lambda: [(people.named_ward(), "FACILITY")],
            "plate": lambda: [(write_plate(chance), "ID")],
            "tailnumber": lambda: [(write_tail_number(chance), "ID")],
            "serial": lambda: [(write_serial(chance), "ID")],
            "username": lambda: [
                (write_user_name(chance, people.given(), people.family(), self._word()), "ID")
            ],
        }

    def _from(self, options: Sequence[str]) -> Callable[[], list[Piece]]:
        return lambda: [(self.chance.choice(options), None)]

    def example(self) -> Example:
        """Return one text with its places."""
        chance = self.chance
        draw = chance.random()
        if self._share_of_shapes and chance.random() < self._share_of_shapes:
            pieces = self._shapes.write()
        elif self._share_of_documents and chance.random() < self._share_of_documents:
            pieces = self.expand(chance.choice(DOCUMENTS))
        elif draw < 0.19:
            pieces = self.expand(chance.choice(CLINICAL))
            if chance.random() < 0.3:
                pieces += self.expand(
                    chance.choice((" {prose}.", ". {medical} {prose}", "\n{prose}; {measure}"))
                )
        elif draw < 0.31:
            pieces = self._shorthand()
        elif draw < 0.39:
            pieces = self._note()
        elif draw < 0.59:
            pieces = self.expand(chance.choice(EVERYDAY))
        elif draw < 0.64:
            pieces = self._salad()
        elif draw < 0.69:
            pieces = self._several()
        elif draw < 0.75:
            pieces = self.expand(chance.choice(HARMLESS))
        elif draw < 0.84:
            pieces = self._shorthand(harmless=True)
        elif draw < 0.88:
            pieces = self.expand(chance.choice(HARMLESS_EVERYDAY))
        elif draw < 0.91:
            pieces = self._dictated()
        else:
            pieces = self._clinical_prose() if draw < 0.95 else self._real_prose()
        if chance.random() < 0.06:
            pieces = self._with_stand_ins(pieces)
        return joined(self._rewritten(pieces))

    def expand(self, template: str) -> list[Piece]:
        """Return a template with its choices made and its slots filled."""
        pieces: list[Piece] = []
        for part in self._chosen(parsed(template)):
            if isinstance(part, _Slot) and part.written is not None:
                pieces.append((self._exchange(part.kind, part.written), part.kind))
            elif isinstance(part, _Slot):
                pieces += self._slots[part.kind]()
            else:
                pieces.append((part.translate(_BRACES), None))
        return pieces

    def _exchange(self, kind: str, written: str) -> str:
        """Return an identifier that an author wrote, or one of the same kind from another document."""
        if kind in _EXCHANGED and self.chance.random() < 0.5:
            return self.chance.choice(list_written(kind))
        return written

    def _chosen(self, parts: "_Parts") -> "Iterator[str | _Slot]":
        for part in parts:
            if isinstance(part, _Choice):
                yield from self._chosen(self.chance.choice(part.options))
            else:
                yield part

    def _rewritten(self, pieces: list[Piece]) -> list[Piece]:
        """Change how the whole text is written, sometimes: without capitals, all in capitals, other line breaks."""
        draw = self.chance.random()
        if draw < 0.05:
            return [(text.upper(), kind) for text, kind in pieces]
        if draw < 0.11:
            kept = self.chance.random() < 0.3  # a company in lower case looks like any words
            return [
                (text.lower(), None if kind == "ORGANIZATION" and not kept else kind)
                for text, kind in pieces
            ]
        if draw < 0.14:
            return [
                (text.upper() if kind in ("NAME", "LOCATION") else text, kind)
                for text, kind in pieces
            ]
        if draw < 0.16:
            return [
                (text.lower() if kind in ("NAME", "LOCATION") else text, kind)
                for text, kind in pieces
            ]
        if draw < 0.19:
            return [
                (
                    re.sub(
                        r" (?=\w)",
                        lambda m: "\n" if self.chance.random() < 0.12 else m.group(),
                        text,
                    ),
                    kind,
                )
                for text, kind in pieces
            ]
        if draw < 0.22:
            return [
                (text.replace(".", "").replace(",", "") if kind is None else text, kind)
                for text, kind in pieces
            ]
        if draw < 0.24:
            return [(text.title() if kind is None else text, kind) for text, kind in pieces]
        if draw < 0.27:
            return [('"', None), *pieces, ('"', None)]
        return pieces

    def _rare_term(self) -> str:
        """Return a term of medicine or chemistry that seldom stands in texts, sometimes one that no list has."""
        if self.chance.random() < 0.2:
            return self._rare_chain.word(self.chance, 5, 18)
        return self.chance.choice(shapes.RARE_TERMS)

    def _constant_name(self) -> str:
        """Return a name as programs write constants: "VISIT_START"."""
        parts = self.chance.choices(
            (*technical.CODE_WORDS, self._word()), k=self.chance.randint(1, 3)
        )
        return "_".join((*parts, self._word())).upper()

    def _weekday_date(self) -> str:
        """Return a day with its weekday: "Thurs 9/5", "Monday the 3rd", "Fri 13 June"."""
        chance = self.chance
        name, day = chance.choice(_MONTHS), chance.randint(1, 28)
        weekday = chance.choice(
            (*_DAYS, *_DAYS, "Mon", "Tues", "Wed", "Thurs", "Thu", "Fri", "Sat", "Sun")
        )
        return weekday + chance.choice(
            (
                f" {self._day_of_month()}", f" {self._day_of_month()}", f" the {_write_ordinal(day)}", f" {day} {name}", f" {name[:3]} {day}",
                f" {name} {_write_ordinal(day)}", f", {name} {day}", f" {_write_ordinal(day)} {name}",
            )
        )  # fmt: skip

    def _day_of_month(self) -> str:
        """Return a day without its year in digits: mostly "9/14", seldom "14/9", "9-14", "14.09"."""
        month, day = self.chance.randint(1, 12), self.chance.randint(1, 31)
        draw = self.chance.random()
        if draw < 0.75:
            return f"{month}/{day}"
        if draw < 0.8:
            return f"{month:02}/{day:02}"
        if draw < 0.85:
            return f"{day}/{month}"
        joint = self.chance.choice(("-", "."))
        return self.chance.choice(
            (f"{month}{joint}{day}", f"{day}{joint}{month:02}", f"{day:02}{joint}{month:02}")
        )

    def _person(self) -> list[Piece]:
        draw = self.chance.random()
        if draw < 0.55:
            return [(self.people.full(), "NAME")]
        if draw < 0.75:
            return [(self.people.given(), "NAME")]
        if draw < 0.88:
            return [(self.people.family(), "NAME")]
        return [(self.people.titled(), "NAME")]

    def _doctor(self) -> str:
        people = self.people
        return self.chance.choice(
            ("Dr. ", "Dr. ", "Dr. ", "Dr ", "Doctor ", "Prof. ", "DR. ", "Nurse ", "NP ")
        ) + self.chance.choice(
            (
                people.family(),
                people.family(),
                f"{people.given()} {people.family()}",
                f"{people.given()[0]}. {people.family()}",
            )
        )

    def _place(self) -> list[Piece]:
        draw = self.chance.random()
        people = self.people
        if draw < 0.5:
            return [(people.city(), "LOCATION")]
        if draw < 0.68:
            return [(people.country(), "LOCATION")]
        if draw < 0.78:
            return [(people.region(), "LOCATION")]
        return [
            (
                f"{people.city()}, {self.chance.choice((people.region(), people.country()))}",
                "LOCATION",
            )
        ]

    def _drug(self) -> list[Piece]:
        if self.chance.random() < 0.25:
            name = self._drug_chain.word(self.chance, 5)
            return [(name.capitalize() if self.chance.random() < 0.6 else name.lower(), None)]
        return [(self.chance.choice(clinic.DRUGS), None)]

    def _eponym(self) -> list[Piece]:
        family = self.people.family()
        other = f"-{self.people.family()}" if self.chance.random() < 0.4 else ""
        owner = self.chance.choice(("'s", "'s", "", "")) if not other else ""
        what = self.chance.choice(
            [
                "disease",
                "syndrome",
                "sign",
                "test",
                "score",
                "scale",
                "criteria",
                "index",
                "classification",
                "procedure",
                "operation",
                "repair",
                "fracture",
                "reflex",
                "maneuver",
                "catheter",
                "tube",
                "stain",
                "cells",
                "nodes",
                "palsy",
                "lymphoma",
                "tumor",
                "contracture",
                "law",
                "equation",
                "formula",
                "method",
                "staging",
                "grade",
                "plot",
                "phenomenon",
                "retractor",
                "clamp",
                "drain",
                "questionnaire",
                "inventory",
                "trial",
                "protocol",
                "regimen",
                "bodies",
                "ligament",
                "fascia",
                "anomaly",
                "dystrophy",
                "ataxia",
                "virus",
            ]
        )
        return [(f"{family}{other}{owner} {what}", None)]

    def _email(self) -> list[Piece]:
        people = self.people
        joint = self.chance.choice((".", "_", "", "-"))
        host = re.sub(r"\W", "", people.company().lower()) or "mail"
        return [
            (
                f"{people.given().lower()}{joint}{people.family().lower()}@{host}.{self.chance.choice(('com', 'org', 'net', 'de', 'hu', 'io'))}".replace(
                    " ", ""
                ),
                "ID",
            )
        ]

    def _shorthand(self, *, harmless: bool = False) -> list[Piece]:
        """Return one to four lines in haste; among those with people, harmless ones."""
        chance = self.chance
        joint = chance.choice((" ", " ", "\n", "\n", ". ", "; "))
        pieces: list[Piece] = []
        for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
            lines = shorthand.HARMLESS if harmless or chance.random() < 0.2 else shorthand.CLINICAL
            pieces += [*self.expand(chance.choice(lines)), (joint, None)]
        return pieces[:-1]

    def _dictated(self) -> list[Piece]:
        """Return speech that a machine wrote down: nothing has a capital."""
        pieces: list[Piece] = []
        for _ in range(self.chance.randint(1, 4)):
            pieces += [
                *self.expand(self.chance.choice(shorthand.DICTATION)),
                (self.chance.choice((" ", "\n")), None),
            ]
        return [(text.lower(), kind) for text, kind in pieces[:-1]]

    def _with_stand_ins(self, pieces: list[Piece]) -> list[Piece]:
        """Put what the model reads in the stead of tags in the place of some names and numbers."""
        chance = self.chance
        numbers = (USUAL_NUMBER, USUAL_NUMBER, USUAL["PHONE"], USUAL["EMAIL"], USUAL["URL"])
        return [
            (chance.choice(numbers) if kind == "ID" else USUAL[kind], kind)
            if kind and text.strip() and chance.random() < 0.6
            else (text, kind)
            for text, kind in pieces
        ]

    def _capitals(self) -> str:
        draw = self.chance.random()
        if draw < 0.12:
            return self._letters()
        return self.chance.choice(shorthand.CAPITALS if draw < 0.7 else self._abbreviations)

    def _brand(self) -> list[Piece]:
        """Return something sold in clinics, made up in one of five."""
        chance = self.chance
        if chance.random() < 0.8:
            return [(chance.choice(shorthand.BRANDS), None)]
        made = self._brand_chain.word(chance, 4, 10).capitalize()
        if chance.random() < 0.2:
            made += self._brand_chain.word(chance, 4, 6).capitalize()
        return [(made, None)]

    def _eponym_alone(self) -> str:
        return (
            self.chance.choice(shorthand.EPONYMS)
            if self.chance.random() < 0.85
            else self.people.family()
        )

    def _system(self) -> str:
        """Return a hospital or health system as people call it, often without a word that tells what it is."""
        chance, people = self.chance, self.people
        draw = chance.random()
        base = (
            chance.choice(shorthand.SYSTEMS)
            if draw < 0.6
            else people.city()
            if draw < 0.8
            else people.city_chain.word(chance, 5).capitalize()
        )
        side = chance.choice(
            (
                "North",
                "South",
                "East",
                "West",
                "Main",
                "Downtown",
                "Central",
                "Health",
                "General",
                "Green",
                "Med",
                people.city(),
                "Health North",
                "Imaging",
                "Rehab",
                "Recovery",
            )
        )
        if draw > 0.8 or chance.random() < 0.4:
            return f"{base} {side}"
        return base

    def _ward(self) -> str:
        chance = self.chance
        n = chance.randint(1, 40)
        letter = chance.choice("ABCDEFGH")
        side = chance.choice(("North", "South", "East", "West", "Tower", "Main"))
        return chance.choice(
            (
                f"Trauma {chance.randint(1, 6)}", f"Trauma Bay {chance.randint(1, 6)}", f"Resus {chance.randint(1, 5)}", f"Waiting Room {letter}", f"Waiting Area {chance.randint(1, 5)}", f"Bay {n}", f"bay {n}",
                f"Bed {n}", f"bed {n}", f"Bed {n}{letter}", f"Room {n}", f"rm {n + 100}", f"Rm {n + 200}", f"room {n}-{letter}", f"ICU bed {n}", f"ICU {n}", f"MICU {n}", f"SICU bed {n}", f"NICU pod {letter}",
                f"Pod {letter}", f"Unit {n}", f"Unit {n} {side}", f"unit {n} {side}", f"{chance.randint(2, 9)} {side}", f"{n} {side}, {n + 100}-{chance.randint(1, 2)}", f"{side} {chance.randint(2, 9)}", f"Ward {n}{letter}",
                f"{self.people.family()} {chance.randint(2, 9)}", f"{self.people.family()} Ward", f"Hall {n}", f"Hallway {letter}", f"hall bed {n}", f"L&D {n}", f"Triage {letter}", f"Chair {n}", f"OR {chance.randint(1, 20)}",
                f"Theatre {chance.randint(1, 9)}", f"Cath Lab {chance.randint(1, 4)}", f"PACU {n}", f"Station {chance.randint(1, 9)}", f"Suite {n}{letter}", f"Fast Track {n}", f"Obs {n}", f"Level {n} {side}", f"{n + 100}-{letter}",
            )
        )  # fmt: skip

    def _transport(self) -> str:
        chance, people = self.chance, self.people
        letters = "".join(chance.choice("ABCDEFGHILMNORSTUVW") for _ in range(chance.randint(3, 5)))
        return chance.choice(
            (
                f"{people.city()} County EMS", f"{people.city()} EMS", f"{people.city()} Fire", f"{people.city()} Ambulance", f"{people.family()} Ambulance", "Life Flight", "LifeFlight", "MedFlight", "Air-Evac", "AirMed", "CareFlite",
                "STARflight", "Mercy Air", "REACH", "AMR", "Rural/Metro", "Acadian", "PHI Air", f"{people.city()} LifeNet", letters, letters, f"{letters} {chance.randint(1, 9)}", f"{people.family()} Air", f"{people.city()} Rescue Squad",
            )
        )  # fmt: skip

    def _church(self) -> str:
        people = self.people
        return self.chance.choice(
            (
                f"St. {people.given()}'s parish", f"St. {people.given()}'s", f"St. {people.given()} Church", "First Baptist", f"First Baptist of {people.city()}", f"{people.city()} Mennonite", f"Temple Beth {people.city()}",
                f"Congregation {people.family()}", f"{people.city()} Islamic Center", f"Our Lady of {people.city()}", f"Masjid {people.given()}", f"{people.city()} AME", f"Iglesia {people.family()}", f"{people.city()} Gurdwara",
            )
        )  # fmt: skip

    def _phrase(self, length: int) -> str:
        return " ".join(self._word() for _ in range(length))

    def _word(self) -> str:
        draw = self.chance.random()
        if draw > 0.98:
            return self._word_chain.word(self.chance, 4)  # a term that no list has
        if draw > 0.97:
            return self._letters()
        return self.chance.choice(
            _LITTLE if draw < 0.4 else self._common if draw < 0.7 else self.words
        )

    def _clinical_word(self) -> str:
        draw = self.chance.random()
        if draw < 0.15:
            return self._medical_chain.word(self.chance, 5, 18)  # a term that no list has
        return self.chance.choice(self._medical if draw < 0.9 else clinic.SYMPTOMS)

    def _prose(self, length: int) -> str:
        """Return words as clinical prose has them, in no order."""
        chance = self.chance
        words = []
        for _ in range(length):
            draw = chance.random()
            words.append(
                chance.choice(_LITTLE) if draw < 0.33
                else self._clinical_word() if draw < 0.6
                else chance.choice(self._common) if draw < 0.74
                else chance.choice(self.words) if draw < 0.82
                else self._measure() if draw < 0.9
                else chance.choice(self._abbreviations) if draw < 0.95
                else self._letters() if draw < 0.96
                else chance.choice(clinic.CONDITIONS) if draw < 0.98
                else chance.choice(clinic.THINGS)
            )  # fmt: skip
            if chance.random() < 0.1:
                words[-1] += chance.choice((",", ",", ";", ":", "/", " -", " +", " ="))
            elif chance.random() < 0.03:
                words[-1] = f"({words[-1]})"
        return " ".join(words)

    def _clinical_prose(self) -> list[Piece]:
        """Return sentences of clinical words that identify nobody; in one of three, one name, place or day does."""
        chance = self.chance
        pieces: list[Piece] = []
        for _ in range(chance.randint(1, 5)):
            prose = self._prose(chance.randint(4, 18))
            prose = prose[0].upper() + prose[1:]
            pieces.append((prose + chance.choice((". ", ". ", ". ", "? ", "\n", ": ", "; ")), None))
        if chance.random() < 0.33:
            kind = chance.choice(("person", "doctor", "place", "facility", "date", "id", "name"))
            at = chance.randint(0, len(pieces))
            before = {"facility": "at ", "place": "in ", "date": "on ", "id": "MRN "}.get(
                kind, "by "
            )
            pieces[at:at] = [
                (before, None),
                *self._slots[kind](),
                (chance.choice((". ", ", ", " ")) + self._prose(3) + ". ", None),
            ]
        return pieces

    def _real_prose(self) -> list[Piece]:
        """Return sentences of medical books and abstracts; in one of four texts, made-up ones of people stand among them."""
        chance = self.chance
        pieces: list[Piece] = [
            (chance.choice(self._sentences) + chance.choice((" ", "\n")), None)
            for _ in range(chance.randint(1, 3))
        ]
        if chance.random() < 0.25:
            at = chance.randint(0, len(pieces))
            pieces[at:at] = [*self.expand(chance.choice(CLINICAL)), (" ", None)]
        return pieces

    def _measure(self) -> str:
        """Return a number with its unit, a range, a rate or the like."""
        chance = self.chance
        a, b, small = chance.randint(1, 400), chance.randint(1, 120), chance.random() * 20
        unit = chance.choice(_UNITS)
        return chance.choice(
            (
                f"{a} {unit}", f"{small:.1f} {unit}", f"{a}{unit}", f"{a},{chance.randint(0, 9)}00/{unit}", f"{a},000/mm3", f"{a},{b:03} {unit}",
                f"{a}/{b} mm Hg", f"{a}/{b} mmHg", f"{b}/min", f"{small + 90:.1f}°F", f"{small + 35:.1f}°C ({small + 90:.1f}°F)", f"{small + 35:.1f} °C",
                f"{chance.randint(0, 5)}/5", f"{chance.randint(1, 10)}/10", f"{chance.randint(1, 6)}/6", f"{b}%", f"{small:.1f}%", f"({b}%)", f"n = {a}", f"(n={b})",
                f"P<.0{chance.randint(1, 5)}", f"p = 0.{b:02}", "p<0.001", f"{small:.1f}-{small + 3:.1f}", f"{b}-{b + a}", f"{small:.2f} ± {small / 3:.2f}",
                f"95% CI {small:.2f}-{small + 1:.2f}", f"(95% CI, {small:.1f} to {small + 2:.1f})", f"x{chance.randint(2, 9)}", f"{chance.randint(1, 4)}+",
                f"T{chance.randint(1, 12)}", f"L{chance.randint(1, 5)}-S1", f"C{chance.randint(1, 7)}", f"Fig. {chance.randint(1, 9)}", f"Figure {chance.randint(1, 9)}",
                f"Table {chance.randint(1, 5)}", f"G{chance.randint(1, 5)}P{chance.randint(0, 4)}", f"{chance.randint(2, 90)}-year-old", f"{chance.randint(2, 30)} years",
                f"{chance.randint(2, 30)}-day", f"at the {chance.randint(1, 99)}th percentile", f"the {chance.randint(4, 20)}th day", f"< {a} {unit}", f"{a} × 10{unit}",
                f"({b}, {b + 3}, {b + 9})", f"{a},{b:03}", f"{chance.choice(('stage', 'grade', 'type', 'group'))} {chance.choice(('I', 'II', 'III', 'IV', 'A', 'B'))}", f"{chance.randint(1, 40)} weeks", f"day {chance.randint(1, 30)}", f"the {chance.randint(4, 20)}th rib", f"{chance.randint(4, 12)}th intercostal",
                f"{chance.choice(_GREEK)}-{self._medical_chain.word(chance, 5)}", f"{chance.choice(_GREEK)} = 0.{b}", f"{self.chance.choice(self._abbreviations)}-{chance.randint(1, 30)}",
                f"{b}:{a}", f"{chance.randint(1, 12)} cm x {chance.randint(1, 12)} cm", f"{chance.randint(1, 9)} of {chance.randint(9, 30)}", f"{a} {unit} ({b}-{a + b} {unit})",
                f"{a} {unit} (N {b}-{a + b})", f"between {chance.randint(1985, 2024)} and {chance.randint(1985, 2025)}", f"in {chance.randint(1985, 2025)}", f"#{chance.randint(1, 9)}",
            )
        )  # fmt: skip

    def _letters(self) -> str:
        """Return letters that stand for some term: "ATM", "ZRT-2", "htn"."""
        chance = self.chance
        letters = "".join(
            chance.choice("ABCDEFGHIJKLMNOPRSTUVWX") for _ in range(chance.randint(2, 5))
        )
        draw = chance.random()
        return (
            letters.lower()
            if draw < 0.25
            else f"{letters}-{chance.randint(1, 20)}"
            if draw < 0.35
            else letters
        )

    def date(self) -> str:
        """Return a day, written in one of many ways."""
        chance = self.chance
        day, month, year = chance.randint(1, 28), chance.randint(1, 12), chance.randint(1930, 2027)
        name = _MONTHS[month - 1]
        suffix = _write_ordinal(day).removeprefix(str(day))
        return chance.choice(
            (
                f"{name} {day}, {year}", f"{name} {day}, {year}", f"{name} {day}{suffix}, {year}", f"{name} {day}{suffix}", f"{name} {day}",
                f"{day} {name} {year}", f"{day} {name[:3]} {year}", f"{name[:3]} {day}, {year}", f"{month:02}/{day:02}/{year}", f"{month}/{day}/{year % 100:02}",
                f"{month}/{day}", f"{year}-{month:02}-{day:02}", f"{day:02}.{month:02}.{year}", f"{day}-{name[:3]}-{year}", f"{name} {year}",
                f"the {day}{suffix} of {name}", f"{day}{suffix} of {name}, {year}", f"{day:02}{name[:3].upper()}{year}", f"{year}/{month:02}/{day:02}",
                f"{chance.choice(_DAYS)}, {name} {day}, {year}", f"{name} of {year}", f"{name[:3]}. {day}", f"{day}/{month}/{year}",
            )
        )  # fmt: skip

    def identifier(self) -> str:
        """Return a number of a record, an account, a licence or the like."""
        chance = self.chance
        letters = "".join(chance.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(3))

        def digits(length: int) -> str:
            return "".join(chance.choice("0123456789") for _ in range(length))

        return chance.choice(
            (
                digits(chance.randint(5, 10)), digits(8), f"{letters[:2]}-{digits(6)}", f"{letters}{digits(6)}", f"{letters[0]}{digits(7)}", f"{digits(3)}-{digits(2)}-{digits(4)}",
                f"{digits(5)}{letters[:2]}", f"{letters}-{digits(4)}-{digits(3)}", f"#{digits(6)}", f"{digits(4)}-{digits(4)}", f"{letters[:2]}{digits(3)}{letters[2]}{digits(2)}",
                f"{letters}-{chance.randint(2015, 2026)}-{digits(4)}", f"{digits(4)} {digits(4)} {digits(4)} {digits(4)}", f"{digits(3)}-{digits(3)}-{digits(4)}",
            )
        )  # fmt: skip

    def _salad(self) -> list[Piece]:
        """Return ordinary words in no order with a name, place or company among them: only the words themselves tell."""
        chance = self.chance
        pieces: list[Piece] = [(self._phrase(chance.randint(1, 8)).capitalize(), None)]
        for _ in range(chance.randint(0, 3)):
            kind = chance.choice(
                (
                    "person",
                    "person",
                    "person",
                    "name",
                    "place",
                    "company",
                    "facility",
                    "address",
                    "eponym",
                    "drug",
                )
            )
            opening = {"company": " at", "place": " in", "facility": " at", "address": " at"}.get(
                kind, ""
            )
            pieces.append(
                (
                    chance.choice(
                        (" ", " ", ", ", ": ", " (", " - ", ". ", opening + " ", opening + " ")
                    ),
                    None,
                )
            )
            pieces += self._slots[kind]()
            pieces.append(
                (
                    chance.choice(
                        (
                            " ",
                            " ",
                            ", ",
                            ". ",
                            ") ",
                            "'s ",
                            "; ",
                            " and ",
                            " is ",
                            " was ",
                            " said ",
                        )
                    ),
                    None,
                )
            )
            pieces.append((self._phrase(chance.randint(1, 8)), None))
        return [*pieces, (chance.choice((".", ".", "?", "", "!")), None)]

    def _several(self) -> list[Piece]:
        """Return several short texts as one."""
        joint = self.chance.choice((" ", " ", "\n", "\n\n", "  "))
        pieces: list[Piece] = []
        for _ in range(self.chance.randint(2, 4)):
            pieces += self.expand(
                self.chance.choice(
                    self.chance.choice(
                        (
                            EVERYDAY,
                            HARMLESS_EVERYDAY,
                            CLINICAL,
                            HARMLESS,
                            shorthand.CLINICAL,
                            shorthand.HARMLESS,
                        )
                    )
                )
            )
            pieces.append((joint, None))
        return pieces

    def _note(self) -> list[Piece]:
        """Return a note with fields at its head and sections below."""
        chance = self.chance
        pieces: list[Piece] = []
        joint = chance.choice(("\n", "\n", "\n", " | ", "; ", "   ", "\t"))
        for line in chance.sample(_FIELDS, chance.randint(1, 7)):
            pieces += [*self.expand(line), (joint, None)]
        pieces.append(("\n", None))
        for _ in range(chance.randint(1, 4)):
            pieces += [
                *self.expand(chance.choice(("{header}:\n", "{header}: ", "{header}\n"))),
            ]
            for _ in range(chance.randint(1, 4)):
                pieces += [
                    *self.expand(
                        chance.choice(
                            chance.choice(
                                (
                                    CLINICAL,
                                    shorthand.CLINICAL,
                                    HARMLESS,
                                    HARMLESS,
                                    shorthand.HARMLESS,
                                )
                            )
                        )
                    ),
                    (chance.choice((" ", " ", "\n")), None),
                ]
            pieces.append((chance.choice(("\n", "\n\n")), None))
        if chance.random() < 0.6:
            pieces += self.expand(chance.choice(_ENDINGS))
        return pieces


_FIELDS = read_entries("templates/english/note_fields")

_ENDINGS = read_entries("templates/english/note_endings")


# A space before a mark, where a choice was empty; a title, which belongs to the name after it.
_LOOSE = re.compile(r"(?<=\w) ([.,?!;](?!\w))")
_TITLE_BEFORE = re.compile(
    r"(?<![\w.])((?i:mr|mrs|ms|dr|prof|miss|sir|doctor|judge|captain|coach|uncle|aunt|senator|president|officer|king|queen"
    r"|saint|pope|minister)\.?) $"
)


def _write_ordinal(day: int) -> str:
    """Return the number of a day with its ending: "21st"."""
    ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(day, "th")
    return f"{day}{ending}"


def joined(pieces: list[Piece]) -> Example:
    """Join pieces to a text and its places."""
    text = ""
    spans: list[tuple[int, int, str]] = []
    for piece, kind in pieces:
        if kind is None:
            if piece[:1] in ".,?!;:" and text.endswith(" ") and not text.endswith("  "):
                text = text[:-1]
            text += _LOOSE.sub(r"\1", piece)
            continue
        if not piece.strip():
            continue
        start = len(text) + len(piece) - len(piece.lstrip())
        if kind == "NAME":
            # A title that ends another name ("Grace King") belongs to that name.
            end_of_last = spans[-1][1] if spans else 0
            title = _TITLE_BEFORE.search(text, max(0, start - 12), start)
            if title and title.start(1) >= end_of_last:
                start = title.start(1)
        text += piece
        spans.append((start, len(text.rstrip()), kind))
    return text, spans
