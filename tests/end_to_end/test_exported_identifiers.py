"""A run of many records, exported for people in every form, holds no planted identifier in any byte.

Half of the records name their people in columns of their own and nowhere say who is meant; the other half say so in
the question alone. Answers, thoughts, right answers and judges write every name, number and day in another way.
"""

import os
import re
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import islice, product
from pathlib import Path

import pytest
from click.testing import CliRunner

import agent.redaction
from agent.cli.main import intramural
from agent.redaction import open_redactor
from agent.vocabulary import Identifier, Reference, Response
from tests.agent.service.filled_site import Case, FilledSite, case, filled_site
from tests.agent.service.judged import JUDGES, add_judged, verdict

# All 2,000 with `make test-exports`; as many as show every way of writing in the tests of every day.
COUNT = int(os.environ.get("EXPORTED_INSTANCES", "80"))
JUDGED = 10  # every so manyth

_FIRST = (
    "zarr",
    "vell",
    "quorr",
    "brytt",
    "krell",
    "dovv",
    "tizz",
    "mavv",
    "huxx",
    "pell",
    "gorr",
    "lumm",
)
_MIDDLE = ("an", "ib", "ost", "ur", "em", "ax", "il", "ov", "un", "ek", "arr", "id")
_FAMILY = (
    "wick",
    "stad",
    "inho",
    "escu",
    "ova",
    "berg",
    "ides",
    "yan",
    "chuk",
    "oglu",
    "ssen",
    "mann",
    "tonn",
    "feld",
)
_GIVEN = ("ella", "ius", "ine", "olf", "ara", "eth")
# Whatever holds a planted name holds this, in whatever case, joined to whatever, and with the errors made here.
NAME = re.compile(
    rf"(?i)(?:{'|'.join(_FIRST)})(?:{'|'.join(_MIDDLE)})(?:{'|'.join([*_FAMILY, *_GIVEN])})".encode()
)
NUMBER = re.compile(rb"7[\s./-]?7[\s./-]?0(?:[\s./-]?\d){9}")
DAY = re.compile(rb"(?i)\d\d?[./-]\d\d?[./-](?:19)?[34]\d\b|\b19[34]\d-\d\d-\d\d|\b19[34]\d(?:0[1-9]|1[0-2])\d\d\b"
                 rb"|(?:march|april|may|june|july|august|january) \d")  # fmt: skip
PHONE = re.compile(rb"617[-.]55|55\d[-.]0\d\d\d")
MAIL = re.compile(rb"@mail")
PLANTED = (NAME, NUMBER, DAY, PHONE, MAIL)


@dataclass(frozen=True)
class Person:
    given: str
    family: str
    street: str
    mrn: str
    born: date
    phone: str

    @property
    def mail(self) -> str:
        return f"{self.given}.{self.family}@mail.example".lower()

    def identifiers(self) -> tuple[Identifier, ...]:
        return (
            Identifier("NAME", f"{self.family}, {self.given}"),
            Identifier("MRN", self.mrn),
            Identifier("DATE", self.born.isoformat()),
            Identifier("ADDRESS", f"{len(self.mrn)} {self.street} Street"),
            Identifier("PHONE", self.phone),
            Identifier("EMAIL", self.mail),
        )

    def introduced(self) -> str:
        return (
            f"Patient name: {self.given} {self.family}, MRN: {self.mrn}, DOB: {self.born:%m/%d/%Y}, lives at "
            f"{len(self.mrn)} {self.street} Street, phone {self.phone}, e-mail {self.mail}. Cough for 3 days."
        )

    def said(self, number: int) -> str:
        """One of the ways in which somebody mentions the person."""
        given, family, mrn, born = self.given, self.family, self.mrn, self.born
        ways = (
            f"so {given.lower()} has a cough",
            f"{family.upper()}, {given.upper()} has a cough",
            f"The chart {mrn[:4]}-{mrn[4:8]}-{mrn[8:]} says {given[0]}. {family} coughs",
            f"{family}{family[-1]} coughs; see {mrn}",  # one letter too many
            f"user {given[0].lower()}{family.lower()} wrote; {family.lower()}'s cough",
            f"born {born.isoformat()}, or {born.day}.{born.month}.{born.year}, {family}-{given} coughs",
            f"on {born:%B} {born.day}, {born.year} {family} was born, {given} coughs",
            f"at {len(mrn)} {self.street} St lives {given} {family[0]}. and coughs",
            f"call {self.phone.replace('-', '.')} or {self.mail}; {family} coughs",
            f"file {family.lower()}_{given.lower()}_{mrn}.pdf about a cough",
        )
        return ways[number % len(ways)]


def people() -> list[Person]:
    families = ("".join(parts).title() for parts in product(_FIRST, _MIDDLE, _FAMILY))
    givens = ["".join(parts).title() for parts in product(_FIRST, _MIDDLE, _GIVEN)]
    streets = [
        "".join(parts).title()
        for parts in product(reversed(_FIRST), reversed(_MIDDLE), _FAMILY[:3])
    ]
    return [
        Person(
            givens[i * 7 % len(givens)],
            family,
            streets[i * 5 % len(streets)],
            f"770{i * 48_611 % 10**9:09d}",
            date(1931, 1, 1) + timedelta(days=i * 3),
            f"617-55{i % 10}-0{i * 7 % 1000:03d}",
        )
        for i, family in enumerate(islice(families, COUNT))
    ]


def record(number: int, person: Person) -> Case:
    told = number % 2 == 0
    made = case(
        number,
        prompt=person.said(number // 2) if told else person.introduced(),
        answer=person.said(number // 3 + 1),
        reasoning=person.said(number // 5 + 2),
        references=(
            Reference(person.said(number // 7 + 3), True),
            Reference("Nobody coughs.", False),
        ),
        identity=f"{person.family}-{person.mrn}",
        unit=person.mrn,
    )
    return replace(
        made, instance=replace(made.instance, identifiers=person.identifiers() if told else ())
    )


def found_in(data: bytes, mrns: Collection[bytes]) -> list[bytes]:
    """Return some of the planted identifiers in `data`. Digits of a hash are one by chance only where all are."""
    found = [found.group() for pattern in PLANTED for found in pattern.finditer(data)]
    digits = (bytes(re.sub(rb"\D", b"", one)) if NUMBER.fullmatch(one) else None for one in found)
    return [
        one for one, number in zip(found, digits, strict=True) if number is None or number in mrns
    ][:5]


def fill(folder: Path) -> tuple[FilledSite, Sequence[Person]]:
    filled, planted = filled_site(folder), people()
    cases = [record(number, person) for number, person in enumerate(planted)]
    replies = {
        number: [
            [verdict(4, f"Right: {person.said(number + seat)}.")]
            if seat
            else [
                Response(f"Hm, {person.said(number)}", person.said(number + 1), "stop", 9, 9, 0.1),
                verdict(3, "Fair."),
            ]
            for seat in range(len(JUDGES))
        ]
        for number, person in enumerate(planted)
        if number % JUDGED == 0
    }
    add_judged(filled, cases, replies)
    return filled, planted


def cells(database: Path) -> list[bytes]:
    """Return the content of every cell of an SQLite file, as it is when it is put together from its pages."""
    with sqlite3.connect(database) as opened:
        tables = [
            name
            for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        rows = [row for table in tables for row in opened.execute(f'SELECT * FROM "{table}"')]
    return [cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row]


@pytest.mark.full
@pytest.mark.timeout(1_200)
def test_no_planted_identifier_is_in_any_byte_that_people_get(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level("DEBUG")
    redactor = (
        open_redactor()
    )  # one for all commands: each opens its own else, and searches every text anew
    monkeypatch.setattr(agent.redaction, "open_redactor", lambda *_: redactor)
    filled, planted = fill(tmp_path)
    mrns = {person.mrn.encode() for person in planted}
    blind = "\n".join(
        text for person in planted for text in (person.introduced(), *map(person.said, range(10)))
    )
    assert [pattern.pattern for pattern in PLANTED if not pattern.search(blind.encode())] == []
    assert all(
        NAME.search(one.encode())
        for person in planted
        for one in (person.given, person.family, person.street)
    )

    runner, site, out = CliRunner(), str(filled.site.directory), tmp_path / "out"
    said = []
    for form in ("jsonl", "csv", "helm"):
        done = runner.invoke(
            intramural,
            [
                "--site",
                site,
                "--log-level",
                "debug",
                "export",
                "--suite",
                "november",
                "--format",
                form,
                "--out",
                f"{out}/{form}",
            ],
        )
        assert done.exit_code == 0, done.output
        said.append(done.output)
    done = runner.invoke(
        intramural, ["--site", site, "--log-level", "debug", "view", "--export", f"{out}/pages"]
    )
    assert done.exit_code == 0, done.output
    said.append(done.output)

    leaks = {"what was printed or logged": found_in("\n".join([*said, caplog.text]).encode(), mrns)}
    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        inside = path.relative_to(tmp_path).as_posix()
        leaks[inside] = found_in(
            path.read_bytes().replace(b"\\u0020", b" ") + b"\n" + inside.encode(), mrns
        )
    assert {name: found for name, found in leaks.items() if found} == {}

    assert any(name.endswith(".sqlite3") for name in leaks)
    assert found_in(blind.encode(), mrns) != []
    kept = cells(next((tmp_path / "site").rglob("*.sqlite3")))
    assert len(kept) > 5 * COUNT
    assert found_in(b"\n".join(kept), mrns) == []
    shown = (out / "jsonl" / "instances.jsonl").read_text("utf-8")
    assert shown.count("\n") == COUNT
    assert shown.count("WITHHELD") == 0
    assert shown.count("cough") > 3 * COUNT  # what is no identifier is there
