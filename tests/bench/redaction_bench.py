"""How well redaction works, and what it costs: `make bench-redaction`.

One engine, its default level, all figures at once, against floors below which nothing is released, and goals. Recall
by kind with Wilson's intervals, texts as units. Beside it, what redaction costs the reader: tags per 1,000 words of
harmless texts, the share of redacted words that identify, and questions whose options, numbers or units changed. The
peer of the same run is Presidio as it comes, without a language model. Corpora are parts that may be looked at:
tests/data/deid, or the folder that --data names; what is in neither is said not to be measured. Speed is per second of
one processor, on invented clinical records of 4,000 characters; each engine has a process of its own, in which every
attempt to reach beyond loopback is refused and counted.

    python tests/bench/redaction_bench.py [--data FOLDER] [--rows 20000] [--engine KIND:PATH]
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redaction_levels import QUESTIONS, measure_questions, read_questions

from agent.cli.output import show_rows
from agent.cli.redact_tables import COLUMNS, bench_rows
from agent.redaction.files.rows import RowTask
from agent.redaction.files.streaming import WorkerPool, redact_stream
from agent.redaction.files.worker import EngineChoice, peak_mb
from agent.redaction.measuring.bench import Bench, GoldText, measure_texts, read_gold, run_bench
from agent.redaction.measuring.measures import RedactionFigures
from agent.statistics.intervals import Mean

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = ROOT / "tests/no_network"
HERE = ROOT / "tests/data/deid"
DISGUISES = ROOT / "tests/data/disguises.jsonl"
RECORD, RECORDS, STARTS = 4_000, 100, 3

SENTENCES = (
    "Patient {name} was admitted to {ward} on {date} with {finding} for {n} days. ",
    "MRN: {mrn}. Date of birth {date}, contact {phone}. ",
    "On examination the pulse was {n} per minute, the chest was clear and the abdomen soft. ",
    "There is a history of {finding} treated with metformin {n}00 mg twice daily for {n} years. ",
    "Dr. {name} reviewed the films and found no interval change compared with the study of {date}. ",
    "She lives at {n} {street} with her husband and can be reached at {mail}. ",
    "Return precautions were reviewed in detail, and follow-up was arranged in {n} weeks. ",
    "Potassium {n}.2 mmol/L, creatinine 1.{n} mg/dL, haemoglobin 11.{n} g/dL, platelets 2{n} thousand. ",
    "Assessment and plan: {finding}, stable. Continue lisinopril, taper prednisone over {n} days. ",
    "The family history is notable for {finding} in a first-degree relative; no known drug allergies. ",
)
NAMES = (
    "Anna",
    "Jonas",
    "Mireille",
    "Tomasz",
    "Aisha",
    "Henrik",
    "Lucia",
    "Dmitri",
    "Nkechi",
    "Pauline",
)
FAMILIES = (
    "Holloway",
    "Brzezicki",
    "Okonjo",
    "Lindqvist",
    "Marchetti",
    "Vandersloot",
    "Ferreira",
    "Haugland",
)
FINDINGS = (
    "chest tightness",
    "shortness of breath",
    "dizziness",
    "hypertension",
    "atrial fibrillation",
    "anaemia",
)
WARDS = (
    "Ward 7B",
    "Larkfield General Hospital",
    "the Medical Intensive Care Unit",
    "Bayview Clinic",
)
STREETS = ("Oak Street", "Linden Avenue", "Quarry Lane", "Mill Road")


@dataclass(frozen=True)
class Aim:
    """One figure, and what is asked of it; where `least` is false, lower is better."""

    name: str
    value: float | None
    floor: float
    goal: float
    least: bool = True
    interval: tuple[float | None, float | None] = (None, None)

    def reaches(self, bound: float) -> bool:
        return self.value is not None and (
            self.value >= bound if self.least else self.value <= bound
        )


def record(number: int) -> str:
    """One invented record, the same for the same number."""
    chance, text = random.Random(number), ""
    while len(text) < RECORD:
        name = f"{chance.choice(NAMES)} {chance.choice(FAMILIES)}"
        text += chance.choice(SENTENCES).format(
            name=name,
            ward=chance.choice(WARDS),
            date=f"{chance.randint(1, 12):02}/{chance.randint(1, 28):02}/20{chance.randint(10, 24)}",
            finding=chance.choice(FINDINGS),
            n=chance.randint(2, 89),
            mrn=chance.randint(10**6, 10**8),
            phone=f"617-555-{chance.randint(0, 9999):04}",
            street=chance.choice(STREETS),
            mail=f"{name.partition(' ')[0].lower()}{chance.randint(1, 999)}@ward.example",
        )
    return text[:RECORD]


def presidio(gold: Path) -> None:
    """Find with Presidio's own recognisers for English, as they come, on spaCy's tokenizer alone; in a process."""
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry

    from agent.redaction.models.tokenizer import TokenizerEngine

    texts = [json.loads(line)["text"] for line in gold.read_text("utf-8").splitlines()]
    registry = RecognizerRegistry(supported_languages=["en"])
    registry.load_predefined_recognizers(languages=["en"])
    registry.remove_recognizer("SpacyRecognizer")
    analyzer = AnalyzerEngine(
        registry=registry, nlp_engine=TokenizerEngine(["en"]), supported_languages=["en"]
    )
    analyzer.analyze(texts[0], "en")
    began = started = time.process_time()
    found = [
        [(r.start, r.end, r.entity_type) for r in analyzer.analyze(text, "en")] for text in texts
    ]
    print(
        json.dumps(
            {
                "found": found,
                "cpu_s": time.process_time() - began,
                "start_cpu_s": started,
                "peak_mb": peak_mb(),
            }
        )
    )


def by_presidio(texts: Sequence[GoldText]) -> Bench:
    """Let Presidio find."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(text.row().decode() + "\n" for text in texts)
        file.flush()
        began = time.monotonic()
        command = [sys.executable, __file__, "--presidio", file.name]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(NO_NETWORK), str(ROOT)])}
        environment.pop("REFUSED_CONNECTIONS", None)  # it is ours that are counted
        done = json.loads(
            subprocess.check_output(command, env=environment, stderr=subprocess.DEVNULL)
        )
    places = tuple(tuple((start, end, kind) for start, end, kind in one) for one in done["found"])
    characters = sum(len(text.text) for text in texts)
    return Bench(
        places,
        Counter(),
        characters,
        done["cpu_s"],
        time.monotonic() - began,
        done["start_cpu_s"],
        done["peak_mb"],
    )


def show(aims: Sequence[Aim]) -> None:
    """Print figures beside what is asked of them."""
    print(f"\n{'':58}{'figure':>9}{'interval':>16}{'floor':>8}{'goal':>8}")
    for aim in aims:
        figure = (
            "-"
            if aim.value is None
            else f"{aim.value:.3f}"
            if aim.value <= 1
            else f"{aim.value:.1f}"
        )
        low, high = aim.interval
        interval = "" if low is None or high is None else f"{low:.3f}-{high:.3f}"
        state = "goal" if aim.reaches(aim.goal) else "floor" if aim.reaches(aim.floor) else "MISSED"
        if aim.value is None:
            state = "not measured"
        print(f"{aim.name:58}{figure:>9}{interval:>16}{aim.floor:8g}{aim.goal:8g}  {state}")


def grown(rows: int, choice: EngineChoice) -> tuple[float | None, float | None]:
    """Return the most memory that a worker held after half of so many short rows, and after all, in MB."""
    chance = random.Random(0)

    def lines() -> Iterator[bytes]:
        for number in range(rows):
            name = f"{chance.choice(NAMES)}{number:x} {chance.choice(FAMILIES)}{number:x}"
            yield json.dumps(
                {"text": f"Dr. {name} saw patient MRN: {number + 10**6} for dizziness."}
            ).encode()

    peaks: list[float | None] = []
    done = 0
    with WorkerPool(choice, RowTask(("text",), spans=True), 1) as process:
        for part in redact_stream(lines(), len, process):
            done += part.tally.rows
            if len(peaks) == 0 and done >= rows // 2:
                peaks.append(part.peak_mb)
            last = part.peak_mb
    return peaks[0], last


def own(texts: Sequence[GoldText], choice: EngineChoice) -> tuple[RedactionFigures, Bench]:
    """Let an engine find, and judge it."""
    done = run_bench(list(texts), choice)
    return measure_texts(list(texts), done.detections), done


def corpus(folder: Path, name: str) -> list[GoldText]:
    """Read a corpus from the first folder that has it; empty when none has."""
    for path in (folder / name, HERE / name):
        if path.exists():
            return read_gold(path)
    print(f"{name}: not measured, for it is not in {folder.name} (--data names another folder)")
    return []


def quality(folder: Path, others: dict[str, EngineChoice | None]) -> list[Aim]:
    """Measure on every corpus that is there; print figures by kind and those of the peers."""
    aims: list[Aim] = []
    for name, choice, wanted in CORPORA:
        texts = (
            read_gold(DISGUISES)
            if name == DISGUISES.name and DISGUISES.exists()
            else corpus(folder, name)
        )
        if not texts:
            aims += [
                Aim(f"{name}: {what}", None, floor, goal, least)
                for what, _, floor, goal, least in wanted
            ]
            continue
        ours, cost = own(texts, choice)
        found, costs = {"intramural": ours}, {"intramural": cost}
        for peer, other in others.items() if choice.language is None else ():
            costs[peer] = by_presidio(texts) if other is None else run_bench(texts, other)
            found[peer] = measure_texts(texts, costs[peer].detections)
        print(f"\n{name}: {len(texts)} texts, {choice.policy}")
        show_rows([row for row in bench_rows(found, costs) if shown(row)], COLUMNS, "table")
        for what, figure, floor, goal, least in wanted:
            mean = figure(ours)
            interval = (mean.low, mean.high) if isinstance(mean, Mean) else (None, None)
            value = mean.value if isinstance(mean, Mean) else mean
            aims.append(Aim(f"{name}: {what}", value, floor, goal, least, interval))
    return aims


def utility() -> list[Aim]:
    """Measure what is taken from the questions of public benchmarks, which identify nobody."""
    from agent.redaction.engine import open_engine

    engine = open_engine("hipaa_safe_harbor")
    aims = []
    for name in QUESTIONS:
        figures = measure_questions(read_questions(name), engine)
        found = figures.utility
        print(f"\n{name}: {figures.texts} questions, {found.words} words, tags {dict(found.tags)}")
        changed = found.changed
        aims += [
            Aim(f"{name}: tags per 1,000 words", found.tags_per_1000_words, 10, 2, least=False),
            Aim(f"{name}: options, numbers or units changed", changed.value, 0.4, 0, False,
                (changed.low, changed.high)),
        ]  # fmt: skip
    return aims


def shown(row: Mapping[str, Any]) -> bool:
    """Leave kinds to our own figures: a peer has them all the same, and a line each."""
    return row["engine"] == "intramural" or "recall, " not in row["measure"]


def kinds(*names: str) -> Callable[[RedactionFigures], float | Mean | None]:
    """Return the core recall of these kinds together, by how many there are of each."""

    def figure(found: RedactionFigures) -> float | Mean | None:
        there = [found.kinds[name].core for name in names if name in found.kinds]
        if len(there) == 1:
            return there[0]
        return (
            sum(mean.n * (mean.value or 0) for mean in there) / sum(mean.n for mean in there)
            if there
            else None
        )

    return figure


def cost() -> list[Aim]:
    """Measure speed, memory and start-up, with nothing of a corpus."""
    choice = EngineChoice("hipaa_safe_harbor")
    records = [GoldText(record(number), ()) for number in range(RECORDS)]
    runs = [run_bench(records, choice) for _ in range(STARTS)]
    speed = statistics.median(run.kchar_s for run in runs)
    peak = max((run.peak_mb for run in runs if run.peak_mb is not None), default=None)
    peer = by_presidio(records)
    print(
        f"\n{RECORDS} records of {RECORD} characters: Presidio without a model {peer.kchar_s:.1f} kchar/s of CPU"
    )
    print(
        f"First text after {min(run.start_s for run in runs):.1f} s of the clock, whatever else ran on the machine"
    )
    return [
        Aim("kchar a second of one processor", speed, 75, 150),
        Aim(
            "s of CPU from the start of a process to its first text",
            min(r.start_cpu_s for r in runs),
            3,
            1.5,
            False,
        ),
        Aim(f"MB of a worker, {RECORDS} records", peak, 250, 200, least=False),
    ]


def memory(rows: int) -> list[Aim]:
    """Measure whether a worker grows."""
    half, whole = grown(rows, EngineChoice("hipaa_safe_harbor"))
    growth = None if half is None or whole is None else whole - half
    return [
        Aim(f"MB of a worker, {rows} short rows", whole, 250, 200, least=False),
        Aim("MB that it grew by over the second half of them", growth, 20, 10, least=False),
    ]


CORPORA: list[
    tuple[
        str,
        EngineChoice,
        list[tuple[str, Callable[[RedactionFigures], float | Mean | None], float, float, bool]],
    ]
]
CORPORA = [
    (
        "asq_phi.fifth.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.985, 0.995, True),
            ("names", kinds("NAME"), 0.99, 0.998, True),
            ("MRN", kinds("MEDICAL_RECORD_NUMBER"), 0.995, 1, True),
            ("SSN and phone", kinds("SOCIAL_SECURITY_NUMBER", "PHONE_NUMBER"), 1, 1, True),
            ("texts clean", lambda found: found.clean, 0.96, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.5, 0.25, False),
            (
                "tags per 1,000 harmless words",
                lambda found: found.utility.tags_per_1000_words,
                20,
                2,
                False,
            ),
            ("token precision", lambda found: found.utility.token_precision, 0.9, 0.98, True),
            ("F2", lambda found: found.f2, 0.96, 0.975, True),
        ],
    ),
    (
        "presidio_research.third.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.83, 0.9, True),
            ("PERSON", kinds("PERSON"), 0.95, 0.98, True),
        ],
    ),
    (
        "meddocan.dev.jsonl",
        EngineChoice("gdpr", language="es"),
        [("full recall", lambda found: found.all.full, 0.95, 0.98, True)],
    ),
    (
        "invented_queries.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.9, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.5, 0.1, False),
            (
                "tags per 1,000 harmless words",
                lambda found: found.utility.tags_per_1000_words,
                50,
                10,
                False,
            ),
            ("token precision", lambda found: found.utility.token_precision, 0.9, 0.98, True),
            (
                "options, numbers or units changed",
                lambda found: found.utility.changed,
                0.1,
                0,
                False,
            ),
        ],
    ),
    (
        "invented_notes.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [("core recall", lambda found: found.all.core, 0.9, 0.98, True)],
    ),
    (
        "invented_general.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [("core recall", lambda found: found.all.core, 0.9, 0.98, True)],
    ),
    (
        "invented_shorthand.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.85, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.85, 0.1, False),
        ],
    ),
    (
        "invented_shorthand_second.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.85, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.95, 0.1, False),
        ],
    ),
    (
        "invented_shorthand_third.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.85, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.95, 0.1, False),
        ],
    ),
    (
        "invented_documents.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.85, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.95, 0.1, False),
        ],
    ),
    (
        "invented_documents_second.jsonl",
        EngineChoice("hipaa_safe_harbor"),
        [
            ("core recall", lambda found: found.all.core, 0.85, 0.98, True),
            ("over-redaction", lambda found: found.over, 0.95, 0.1, False),
        ],
    ),
    (
        DISGUISES.name,
        EngineChoice("hipaa_safe_harbor"),
        [("identifiers fully covered", lambda found: found.all.full, 0.9, 0.97, True)],
    ),
]


def measure(options: argparse.Namespace, attempts: Callable[[], int]) -> list[str]:
    """Measure all there is, print it, and return what misses its floor."""
    others: dict[str, EngineChoice | None] = {"Presidio, no model": None}
    if options.engine:
        kind, _, path = options.engine.partition(":")
        others[kind] = EngineChoice(
            "hipaa_safe_harbor", models=({"kind": kind, "path": str(Path(path).absolute())},)
        )
    aims = [*quality(options.data, others), *utility(), *cost(), *memory(options.rows)]
    aims.append(Aim("connections attempted", attempts(), 0, 0, least=False))
    show(aims)
    return [aim.name for aim in aims if aim.value is not None and not aim.reaches(aim.floor)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=HERE, help="folder of the corpora")
    parser.add_argument(
        "--rows", type=int, default=20_000, help="short rows that memory is measured over"
    )
    parser.add_argument(
        "--engine", metavar="KIND:PATH", help="another engine, to be measured as well"
    )
    parser.add_argument("--presidio", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.presidio:
        presidio(options.presidio)
        return
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "attempts"
        note.touch()
        # For this process's children, which are those that redact.
        os.environ["REFUSED_CONNECTIONS"] = str(note)
        os.environ["PYTHONPATH"] = os.pathsep.join([str(NO_NETWORK), str(ROOT)])
        missed = measure(options, lambda: len(note.read_text("utf-8").splitlines()))
    if missed:
        sys.exit("below the floor: " + ", ".join(missed))


if __name__ == "__main__":
    main()
