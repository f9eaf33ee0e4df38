"""Invented patients with records of 60 to 300 words, a site whose benchmarks ask about them, and its gate."""

import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.delivery.outbox import Outbox, Submission
from agent.disclosure.ledger import ReleasedCell, ReleaseEntry
from agent.disclosure.prepare import Gate
from agent.disclosure.registration import Registered, register
from agent.errors import DisclosureError
from agent.site.directory import Site, create_site
from protocol.identity import model_digest
from protocol.registry import RegisteredScorecard, Registry
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.agent.disclosure.ward import REGISTRY, sign
from tests.protocol import world

_COMPLAINTS = (
    "chest pain|shortness of breath|abdominal pain|fever|a fall|headache|dizziness|a cough|weakness"
)
_SINCE = "this morning|two days ago|last week|the operation|a long journey|dinner|the new medicine|a cold|his birthday"
_FINDINGS = (
    "clear lungs|a soft abdomen|swollen ankles|a systolic murmur|pale conjunctivae|a stiff neck|reduced reflexes|"
    "a tender calf|bruises on the left arm|crackles at both bases|an irregular pulse|a dry tongue|warm extremities"
)
_DRUGS = (
    "metoprolol|lisinopril|metformin|atorvastatin|omeprazole|amlodipine|furosemide|apixaban|levothyroxine|insulin|"
    "prednisone|albuterol|gabapentin|sertraline|warfarin|allopurinol|tamsulosin|morphine|ceftriaxone|heparin"
)
_PLANS = (
    "was discharged home|will see cardiology|needs a second scan|was told to return if it worsens|stays overnight|"
    "goes to rehabilitation|declined surgery|waits for cultures|starts physiotherapy|is to fast before the endoscopy"
)
_FIRST = "Maria|John|Anna|Peter|Lucia|Omar|Ines|Karl|Mei|Ravi|Sofia|Jonas|Elena|Hugo|Nadia|Emil|Rosa|Igor|Lena|Tom"
_LAST = "Lopez|Smith|Novak|Berg|Rossi|Haddad|Silva|Kraus|Chen|Patel|Weber|Okafor|Moreau|Lind|Costa|Tanaka|Kowal|Ruiz"
_FORMS = (
    "{first} {last} came with {complaint} since {since} and the examination showed {finding}.",
    "On day {number} the nurse noted {finding} and the team gave {drug} twice before {since}.",
    "The patient takes {drug} and {drug2} at home, with {number} tablets left since {since}.",
    "Family history has {complaint} in the mother and {finding} in a brother treated with {drug}.",
    "Because of {complaint} after {drug}, {drug2} was tried instead and {finding} was seen again.",
    "The patient {plan} with {drug} and knows that {complaint} may come back.",
    "Laboratory value {number} fell after {drug}, while {finding} persisted until {since}.",
    "Record {mrn}: a relative reports {complaint} and asks about {drug2}.",
)


@dataclass(frozen=True)
class Patient:
    """One patient as a row: `identifier` names the unit; first and last name and identifier stand in the text, too."""

    identifier: str
    first: str
    last: str
    note: str
    answer: str

    def row(self) -> dict[str, str]:
        text = self.note.replace("{FIRST}", self.first).replace("{LAST}", self.last)
        return {
            "patient": self.identifier,
            "note": text.replace("{MRN}", self.identifier),
            "answer": self.answer,
        }


@cache  # the same few hundred patients are written in nearly every test
def patient(number: int, words: int | None = None) -> Patient:
    """The same patient for the same number. The note has about `words` words, 60 to 300 unless told."""
    draw = random.Random(f"patient {number}")
    wanted = words or draw.randint(60, 300)
    sentences: list[str] = []
    written = 0
    while written < wanted:
        form = _FORMS[0] if not sentences else draw.choice(_FORMS)
        sentences.append(
            form.format(
                first="{FIRST}",
                last="{LAST}",
                mrn="{MRN}",
                number=draw.randint(2, 900),
                complaint=draw.choice(_COMPLAINTS.split("|")),
                since=draw.choice(_SINCE.split("|")),
                finding=draw.choice(_FINDINGS.split("|")),
                drug=draw.choice(_DRUGS.split("|")),
                drug2=draw.choice(_DRUGS.split("|")),
                plan=draw.choice(_PLANS.split("|")),
            )
        )
        written += len(sentences[-1].split())
    first, last = draw.choice(_FIRST.split("|")), draw.choice(_LAST.split("|"))
    return Patient(
        f"MRN{100000 + number}", first, last, " ".join(sentences), draw.choice(("yes", "no"))
    )


def patients(count: int, first: int = 0) -> list[Patient]:
    return [patient(number) for number in range(first, first + count)]


def with_new_pseudonyms(known: Sequence[Patient], seed: int = 1) -> list[Patient]:
    """The same records under other identifiers and names, in another order."""
    draw = random.Random(seed)
    renamed = [
        replace(one, identifier=f"CASE-{draw.randrange(10**8):08d}", first=f"Xa{draw.choice(_FIRST.split('|'))}",
                last=f"Zu{draw.choice(_LAST.split('|'))}")
        for one in known
    ]  # fmt: skip
    draw.shuffle(renamed)
    return renamed


def write_rows(site: Site, rows: Sequence[Mapping[str, str]], name: str = "ward") -> None:
    """Put rows into a benchmark's data file, as somebody does who saves it from a spreadsheet."""
    with (site.directory / "benchmarks" / name / "data.csv").open(
        "w", newline="", encoding="utf-8"
    ) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_patients(site: Site, known: Sequence[Patient], name: str = "ward") -> None:
    write_rows(site, [one.row() for one in known], name)


def write_seal_key(path: Path) -> None:
    path.touch(mode=0o600)
    path.write_text("5e" * 32)


def make_site(
    directory: Path, benchmarks: Sequence[str] = ("ward",), more: str = "unit_column: patient\n"
) -> Site:
    """A site with private benchmarks of its own that have no data yet."""
    # Sketches miss one similar pair in 10,000. With a fixed key, it is the same pairs in every run.
    with mock.patch("agent.site.directory.create_seal_key", write_seal_key):
        site = create_site(directory, "Test Hospital")
    for name in benchmarks:
        folder = site.directory / "benchmarks" / name
        folder.mkdir()
        (folder / "data.csv").write_text("patient,note,answer\n")
        (folder / "prompt.txt").write_text(
            f"You are a doctor of {name} who reads one record and answers with one word.\n\nRecord: {{note}}\n\n"
            "Does the patient need to be seen again within a month?\n{options}\nAnswer:"
        )
        (folder / "benchmark.yaml").write_text(
            f"name: {name}\ndescription: d\naccess: private\nprompt_file: prompt.txt\ndataset_file: data.csv\n"
            "choices: ['yes', 'no']\ngold: {column: answer}\nmetrics: [{name: exact_match}]\n"
            + more
        )
    return site


def benchmark_of(site: Site, name: str = "ward") -> Benchmark:
    return load_benchmark(site.directory / "benchmarks" / name)


def registry_with(*benchmarks: Benchmark) -> Registry:
    """The small world's registry with one more scorecard, which has these benchmarks."""
    card = Scorecard(
        name="own",
        version=1,
        benchmarks=tuple(
            BenchmarkEntry(one.id, one.display_name, "Own", one.digest) for one in benchmarks
        ),
        cells=tuple(
            Cell(one.id, "exact_match", None, one.access, True, 0, 1) for one in benchmarks
        ),
    )
    return replace(
        REGISTRY, scorecards={**REGISTRY.scorecards, card.digest: RegisteredScorecard(card)}
    )


def gate_of_site(site: Site, *names: str) -> Gate:
    return Gate(
        outbox=Outbox(site.submissions),
        registry=registry_with(*(benchmark_of(site, name) for name in names or ("ward",))),
        policy=world.STRICT,
        signer=world.AGENT,
        data_key=b"d" * 32,
        seal_key=site.seal_key(),
        today_day=world.TODAY,
        agent_version="0.1.0",
    )


@dataclass(frozen=True)
class Ward:
    """A site and its gate."""

    site: Site
    gate: Gate

    def register(self, name: str = "ward", *, dry_run: bool = False) -> Registered:
        with self.site.store() as store:
            return register(
                self.gate, benchmark_of(self.site, name), self.site.data, store, dry_run=dry_run
            )

    def approve(self, done: Registered) -> Submission:
        """What the steward does."""
        assert done.submission is not None
        return sign(self.gate, done.submission)

    def release(self, done: Registered) -> None:
        """Debit figures of a version, as `submission prepare` does."""
        entry = done.candidate.entry
        cell = ReleasedCell(
            benchmark=entry.benchmark,
            metric="exact_match",
            subgroup="",
            definition=entry.definition,
            commitment=entry.commitment,
            value=500,
            spread=None,
            bucket=20,
            scores={},
        )
        with self.gate.outbox.held():
            ledger = self.gate.ledger()
            debit = ReleaseEntry(
                model_digest("m"), "5" * 64, f"{len(ledger.entries):064x}", "9" * 64, {"c": cell}
            )
            self.gate.append(ledger.followed_by(debit, world.TODAY))

    def released(self, known: Sequence[Patient], name: str = "ward") -> Registered:
        """Register, approve and debit a version of these patients."""
        write_patients(self.site, known, name)
        done = self.register(name)
        self.approve(done)
        self.release(done)
        return done


def open_ward(directory: Path, *names: str, more: str = "unit_column: patient\n") -> Ward:
    site = make_site(directory, names or ("ward",), more)
    return Ward(site, gate_of_site(site, *names))


@dataclass(frozen=True)
class ReleasedWard:
    """A ward with figures of its first version, which has 200 patients."""

    ward: Ward
    first: Registered


def refuse_version(ward: Ward, name: str = "ward") -> DisclosureError:
    """Return why a version is refused; nothing of it may be left behind."""
    before = list_files(ward)
    with pytest.raises(DisclosureError) as caught:
        ward.register(name)
    assert list_files(ward) == before
    return caught.value


def list_files(ward: Ward) -> set[str]:
    """Every file of data and submissions; locks are no content."""
    folders = (ward.site.data, ward.site.submissions)
    files = (
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    )
    return {str(path.relative_to(ward.site.directory)) for path in files}


def count_differences(done: Registered) -> tuple[int, int, int]:
    difference = done.candidate.difference
    assert difference is not None
    return difference.added, difference.removed, difference.changed
