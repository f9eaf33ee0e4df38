"""Makes the samples of public benchmarks whose records may not be given on: invented ones in the official formats.

    python benchmarks/make_invented_public.py [EHRSQL]

Every person, drug regimen, question and answer here is made up, and none of it is medical advice. The result is the
same on every machine, so the digests in each benchmark.yaml must come out again; what is new is printed.

EHRSQL is a folder with the dataset's `eicu/valid.json` and `eicu/eicu.sql` (CC BY 4.0). With it the sample of ehr_sql
is made too: real questions and the real schema, over a database whose every row is invented. Patient numbers, drugs
and tests are those that the questions name, so that a good part of the questions has an answer.
"""

import csv
import datetime
import hashlib
import io
import json
import random
import re
import sqlite3
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent
FOLDER = "invented_sample"
EHRSQL_NOTICE = """The questions (valid.json) and the schema (eicu.sql) are real: EHRSQL, Lee et al. 2022 (NeurIPS
Datasets and Benchmarks), https://github.com/glee4810/EHRSQL at e172ec8e61391ecae2d872c8d0ba02a622222f54, licence
Creative Commons Attribution 4.0 International, https://creativecommons.org/licenses/by/4.0/. Changes: 120 of the
1,117 questions were kept, their content unchanged. The licensor does not endorse this use.

The database (eicu.sqlite) is invented, every row of it: the dataset's own is built from credentialed data (eICU).
Only names that the questions hold (patients' numbers, drugs, tests) occur in it, so that many of the questions have an
answer. Made by benchmarks/make_invented_public.py.
"""
NOTICE = """Every record in this folder is invented: nobody's data, no medical advice.
It was made by benchmarks/make_invented_public.py in the official format of the dataset, whose own records may not
be given on, so that the benchmark can be tried from end to end.
"""

# ---- MTSamples ------------------------------------------------------------------------------------------------------

_HEAD = """Medical Specialty:{specialty}
Sample Name: {name}
Description: {description}
(Medical Transcription Sample Report)
"""

REPORTS = (
    (
        "Invented Clinic Visit - 1",
        "Cardiovascular / Pulmonary",
        "Invented visit for high blood pressure.",
        "HISTORY OF PRESENT ILLNESS: Ms. Examplewood, 58, comes for a check of her blood pressure.\n"
        "MEDICATIONS: Lisinopril 10 mg daily.PHYSICAL EXAM: Blood pressure 152/94. Lungs are clear.\n"
        "ASSESSMENT: Hypertension, not controlled.\n"
        "PLAN: 1. Raise lisinopril to 20 mg daily.\n2. Basic metabolic panel in two weeks.\n"
        "3. Home blood pressure diary; return in one month.",
    ),
    (
        "Invented Clinic Visit - 2",
        "Neurology",
        "Invented visit for migraine; the plan's heading is not in capitals.",
        "SUBJECTIVE: Mr. Samplefield, 34, reports two headaches a week with nausea and light sensitivity.\n"
        "OBJECTIVE: Normal neurological examination.\nAssessment: Migraine without aura.\n"
        "Plan: Start propranolol 40 mg twice a day. Sumatriptan 50 mg as needed. Headache diary.",
    ),
    (
        "Invented Clinic Visit - 3",
        "Endocrinology",
        "Invented visit; several sections share one line.",
        "HISTORY: Mrs. Fictionham, 66, has type 2 diabetes.LABORATORY DATA: HbA1c 8.4%.IMPRESSION AND PLAN: Diabetes "
        "above target. Add empagliflozin 10 mg each morning and repeat the HbA1c in three months.NOTE: Dictated, not "
        "read.\nKeywords: endocrinology, invented",
    ),
    (
        "Invented Stress Test",
        "Radiology",
        "Invented test; its summary is the gold.",
        "INDICATION: Chest pain on exertion.\nPROTOCOL: Standard exercise for nine minutes.\n"
        "SUMMARY: Good exercise capacity without chest pain. No ischaemic changes at 92% of the predicted rate.",
    ),
    (
        "Invented Knee MRI",
        "Orthopedic",
        "Invented study; its findings are the gold.",
        "EXAM: MRI of the left knee.\nCLINICAL HISTORY: Twisting injury at football.\n"
        "FINDINGS: Horizontal tear of the posterior horn of the medial meniscus. Both cruciate ligaments are whole. "
        "Small joint effusion.IMPRESSION: Medial meniscal tear.",
    ),
    (
        "Invented Letter",
        "Letters",
        "Invented letter without any of the three sections; it is left out.",
        "Dear colleague, thank you for seeing Mr. Nobodyson about his vaccinations. He feels well.",
    ),
)

PROCEDURES = (
    (
        "Invented Laparoscopic Procedure - 1",
        "Surgery",
        "Invented removal of the gallbladder.",
        "PREOPERATIVE DIAGNOSIS: Gallstones.ANESTHESIA: General.\n"
        "FINDINGS: Thin-walled gallbladder with several small stones. No stones in the duct.\n"
        "DESCRIPTION OF PROCEDURE: Ms. Placeholder was placed supine and four ports were set.",
    ),
    (
        "Invented Endoscopy #2",
        "Gastroenterology",
        "Invented examination; a # in the name is no reason to lose it.",
        "INDICATION: Dyspepsia for six weeks.\nMEDICATION: Midazolam 3 mg.\n"
        "OPERATIVE FINDINGS: Mild erythema of the antrum, biopsied. Normal duodenum.\nCOMPLICATIONS: None.",
    ),
    (
        "Invented Skin Excision",
        "Dermatology",
        "Invented excision; the plan follows the findings and is the gold.",
        "PROCEDURE: Excision of a naevus, right shoulder of Mr. Madeup.\nFINDINGS: Symmetrical naevus of 6 mm.\n"
        "PLAN: Keep the wound dry for two days. Sutures out after ten days. Result by telephone.",
    ),
    (
        "Invented Joint Injection",
        "Orthopedic",
        "Invented injection; its summary is the gold.",
        "PROCEDURE: Injection of the right shoulder under ultrasound.\n"
        "SUMMARY: 40 mg triamcinolone injected without difficulty. Pain fell from 7 to 2 within ten minutes.",
    ),
    (
        "Invented Cast",
        "Orthopedic",
        "Invented cast without any of the three sections; it is left out.",
        "PROCEDURE: Long arm cast for Master Pretend, age 7. Tolerated well.",
    ),
)


def make_reports(benchmark: str, reports: tuple[tuple[str, str, str, str], ...]) -> None:
    """Write one text file a report, as the source has them."""
    for name, specialty, description, body in reports:
        head = _HEAD.format(specialty=specialty, name=name, description=description)
        write(benchmark, f"{name}.txt", (head + body + "\n").encode())


# ---- Medbullets -----------------------------------------------------------------------------------------------------

BULLETS: tuple[tuple[str, tuple[str, str, str, str, str], int], ...] = (
    (
        "A 29-year-old invented woman has palpitations, weight loss and a diffusely enlarged thyroid.\n\n"
        "Which of the following is the most likely diagnosis?",
        (
            "Graves disease",
            "Hashimoto thyroiditis",
            "Riedel thyroiditis",
            "Thyroid lymphoma",
            "Myxedema coma",
        ),
        0,
    ),
    (
        "An invented 4-year-old boy has a barking cough and inspiratory stridor after a cold. "
        "Which of the following should be given?",
        ("Amoxicillin", "Dexamethasone", "Salbutamol", "Aspirin", "Codeine"),
        1,
    ),
    (
        "A 61-year-old invented man has crushing chest pain and ST elevation in II, III and aVF. "
        "Which artery is most likely occluded?",
        (
            "Left main",
            "Left anterior descending",
            "Right coronary",
            "Left circumflex",
            "Internal thoracic",
        ),
        2,
    ),
    (
        "An invented 45-year-old woman has fatigue, pruritus and antimitochondrial antibodies. "
        "Which of the following is the best first treatment?",
        ("Prednisone", "Azathioprine", "Interferon", "Ursodeoxycholic acid", "Cholecystectomy"),
        3,
    ),
    (
        "A 70-year-old invented man cannot lift his foot after a long operation in lithotomy position. "
        "Which nerve is injured?",
        ("Femoral", "Obturator", "Tibial", "Superior gluteal", "Common fibular"),
        4,
    ),
    (
        'An invented student says: "I see halos, and my eye hurts." The eye is red and the pupil mid-dilated. '
        "Which of the following is the diagnosis?",
        ("Acute angle closure", "Conjunctivitis", "Blepharitis", "Cataract", "Amblyopia"),
        0,
    ),
    (
        "A 33-year-old invented runner has pain at the heel with the first steps of the morning. "
        "Which of the following is most likely?",
        ("Gout", "Plantar fasciitis", "Achilles rupture", "Tarsal coalition", "Osteosarcoma"),
        1,
    ),
    (
        "An invented newborn has bilious vomiting on the first day and a double bubble on the radiograph. "
        "Which of the following is the diagnosis?",
        (
            "Pyloric stenosis",
            "Intussusception",
            "Duodenal atresia",
            "Meckel diverticulum",
            "Volvulus of the sigmoid",
        ),
        2,
    ),
)


def make_medbullets() -> None:
    """Write a CSV with cells that span lines and hold quotes, as the official one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "link",
            "question",
            "opa",
            "opb",
            "opc",
            "opd",
            "ope",
            "answer_idx",
            "answer",
            "explanation",
        ]
    )
    for number, (question, options, right) in enumerate(BULLETS, 1):
        link = f"https://example.org/invented/{number}"
        why = (
            f"The picture is that of the option {options[right]}.\n\nThis explanation is invented."
        )
        writer.writerow([link, question, *options, "ABCDE"[right], options[right], why])
    write("medbullets", "medbullets_op5.csv", out.getvalue().encode())


# ---- MedicationQA ---------------------------------------------------------------------------------------------------

MEDICATIONS = (
    (
        "how long does exampline stay in the body",
        "exampline",
        "Time/duration",
        "About two days in healthy adults.",
    ),
    (
        "can i take samplozol with grapefruit juice?",
        "samplozol",
        "Interaction",
        "No. Grapefruit raises its level.",
    ),
    ("what color is pretendamine 5 mg", "pretendamine", "Appearance", "PINK"),
    (
        "side effects of fictivir",
        "fictivir",
        "Side effects",
        "Most often nausea and headache.\nRarely, a rash.",
    ),
    ("is madeupril good for dogs", "madeupril", "Usage", "No answers"),
    ("how about the weather medicine", "n/a", "not_drug_question", "n/a"),
    (
        "how to store inventolin drops",
        "inventolin",
        "Storage and disposal",
        "In the refrigerator, away from light.",
    ),
    (
        "missed dose of placebex",
        "placebex",
        "Usage",
        "Take it when you remember, unless the next is due soon.",
    ),
    (
        "max dose of dummyfen per day",
        "dummyfen",
        "Dose",
        "Not more than 3,000 mg in 24 hours for adults.",
    ),
)


def make_medication_qa() -> None:
    """Write a workbook; one row is no question about a drug, one has no answer."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "DrugQA"
    sheet.append(["Question", "Focus (Drug)", "Question Type", "Answer", "Section Title", "URL"])
    for number, row in enumerate(MEDICATIONS, 1):
        nothing = row[3] in ("n/a", "No answers")
        sheet.append([*row, "n/a" if nothing else "Invented", f"https://example.org/{number}"])
    out = io.BytesIO()
    book.save(out)
    write("medication_qa", "MedInfo2019-QA-Medications.xlsx", without_times(out.getvalue()))


def without_times(archive: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return an Office file whose bytes do not depend on when it was written (nor, if stored, on the zlib there)."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", compression) as new:
        for entry in sorted(old.infolist(), key=lambda entry: entry.filename):
            data = re.sub(
                rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2026-01-01T00:00:00Z", old.read(entry)
            )
            new.writestr(zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0)), data, compression)
    return out.getvalue()


# ---- MedDialog ------------------------------------------------------------------------------------------------------

DIALOGUES = {
    "healthcaremagic": (
        (
            "Patient: I have had a dry cough since I began my new blood pressure tablet. Is that the tablet? "
            "Doctor: It may be. Some of these tablets cause a cough. Ask for another kind and do not stop alone.",
            "Can a blood pressure tablet cause a dry cough?",
        ),
        (
            "Patient: My son, 6, swallowed a cherry stone yesterday and feels fine. Doctor: It will pass by itself "
            "within days. Come in if he has pain, vomits or has a fever.",
            "Is a swallowed cherry stone dangerous for a child who feels well?",
        ),
        (
            "Patient: My knee clicks when I climb stairs, without pain. Doctor: A click without pain or swelling is "
            "harmless. Strengthen the thigh and watch it.",
            "What does a knee that clicks without pain mean?",
        ),
        (
            "Patient: I got a tick bite on holiday and there is a red ring now. Doctor: A growing ring needs "
            "treatment. See a doctor this week for antibiotics.",
            "What should be done about a growing red ring after a tick bite?",
        ),
    ),
    "icliniq": (
        (
            "Patient: Hello doctor, my ferritin is 9 and I am tired all day. Doctor: Hi. Your iron stores are low. "
            "Take iron every second day and look for the cause of the loss.",
            "Please explain a ferritin of 9 with tiredness.",
        ),
        (
            "Patient: Hello doctor, I take warfarin and want to fly for ten hours. Doctor: Hello. You may fly. Walk "
            "about, drink, and have your INR checked before.",
            "Is a long flight safe on warfarin?",
        ),
        (
            "Patient: Hello doctor, my baby of three months sleeps only two hours at a time. Doctor: Hello. That is "
            "usual at this age. Keep the nights dark and calm.",
            "Is it normal that a baby of three months wakes every two hours?",
        ),
    ),
}


def make_med_dialog() -> None:
    """Write one file a subset, in a folder each."""
    for subset, dialogues in DIALOGUES.items():
        data = {"data": [{"src": src, "tgt": tgt} for src, tgt in dialogues]}
        write("med_dialog", f"{subset}/test.json", (json.dumps(data, indent=1) + "\n").encode())


# ---- MEDIQA ---------------------------------------------------------------------------------------------------------

QUESTIONS: tuple[tuple[str, tuple[tuple[int, int, str], ...]], ...] = (
    (
        "invented syndrome my aunt has invented syndrome, is there treatment & where can she get help?",
        (
            (2, 2, "Invented syndrome: a made-up disorder of the imagination."),
            (
                1,
                4,
                "Treatment of invented syndrome: rest, tea and <plain> words. Most people feel better in a week.",
            ),
        ),
    ),
    (
        "How is a sprained ankle treated?",
        (
            (
                1,
                4,
                "Sprained ankle: rest it, cool it, press it with a bandage and raise it. See a doctor if it cannot "
                "bear weight.",
            ),
            (3, 1, "Ankle: the joint between leg and foot."),
            (2, 3, "A brace can help for some weeks."),
        ),
    ),
    (
        "What are the signs of dehydration?",
        ((1, 4, "Thirst, dark urine, dry mouth, dizziness and tiredness."),),
    ),
    (
        "can exampline cause hair loss",
        ((1, 3, "Hair loss was seen in 1 of 1,000 people who took exampline."),),
    ),
    (
        "Who needs a flu shot?",
        (
            (2, 3, "The season begins in autumn."),
            (1, 4, "Nearly everyone from 6 months of age, every year, and above all older people."),
        ),
    ),
)


def make_medi_qa() -> None:
    """Write the XML with ranked answers, sorted by the system's rank and not by the experts'."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<MEDIQA2019-Task3-QA-TestSet>"]
    for qid, (question, answers) in enumerate(QUESTIONS, 1):
        lines += [
            f'\t<Question QID="{qid}">',
            f"\t\t<QuestionText>{escape(question)}</QuestionText>",
            "\t\t<AnswerList>",
        ]
        for number, (rank, grade, answer) in enumerate(answers, 1):
            attributes = {
                "AID": f"{qid}_Answer{number}",
                "SystemRank": number,
                "ReferenceRank": rank,
            }
            attributes["ReferenceScore"] = grade
            written = " ".join(
                f"{key}={quoteattr(str(value))}" for key, value in attributes.items()
            )
            lines += [
                f"\t\t\t<Answer {written}>",
                f"\t\t\t\t<AnswerURL>https://example.org/{qid}/{number}</AnswerURL>",
                f"\t\t\t\t<AnswerText>{escape(answer)}</AnswerText>",
                "\t\t\t</Answer>",
            ]
        lines += ["\t\t</AnswerList>", "\t</Question>"]
    lines += ["</MEDIQA2019-Task3-QA-TestSet>", ""]
    write("medi_qa", "MEDIQA2019-Task3-QA-TestSet-wLabels.xml", "\n".join(lines).encode())


# ---- EHRSQL ---------------------------------------------------------------------------------------------------------

_ANSWERABLE, _UNANSWERABLE = 90, 30
_ORGANISMS = ("escherichia coli", "staphylococcus aureus", "no growth")
_SQLITE_VERSION = slice(96, 100)  # the library's version in a file's header: nobody reads it


def make_ehr_sql(source: Path) -> None:
    """Write 120 of the real questions, the real schema, and an invented database that answers many of them."""
    text = (source / "eicu/eicu.sql").read_text(encoding="utf-8")
    questions: list[dict[str, Any]] = json.loads(
        (source / "eicu/valid.json").read_text(encoding="utf-8")
    )
    by_kind: dict[str, dict[str, Any]] = {}
    for question in questions:
        if not question["is_impossible"]:
            by_kind.setdefault(question["q_tag"], question)
    candidates = list(by_kind.values())
    database = HERE / "ehr_sql" / FOLDER / "eicu.sqlite"
    database.parent.mkdir(parents=True, exist_ok=True)
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA page_size = 1024")
    connection.executescript(text)
    _Hospital(connection, candidates).fill()
    connection.commit()
    connection.execute("VACUUM")
    told = [question for question in candidates if _has_answer(connection, question["query"])]
    connection.close()
    data = bytearray(database.read_bytes())
    data[_SQLITE_VERSION] = bytes(4)
    write("ehr_sql", "eicu.sqlite", bytes(data))
    write("ehr_sql", "eicu.sql", text.encode())
    impossible = [question for question in questions if question["is_impossible"]]
    picked = _spread(told, _ANSWERABLE) + _spread(impossible, _UNANSWERABLE)
    ids = {question["id"] for question in picked}
    kept = [question for question in questions if question["id"] in ids]
    write("ehr_sql", "valid.json", (json.dumps(kept, indent=1) + "\n").encode())
    print(
        f"ehr_sql: {len(told)} of {len(candidates)} kinds of question have an answer in the database"
    )


def _spread(items: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return [items[i * len(items) // count] for i in range(min(count, len(items)))]


def _has_answer(connection: sqlite3.Connection, query: str) -> bool:
    """Tell whether a published query gives anything, run as the dataset's own evaluation runs it."""
    query = (
        query.replace("current_time", "'2105-12-31 23:59:00'")
        .replace("%y", "%Y")
        .replace("%j", "%J")
    )
    query = re.sub(r"\b(?!between\b)\w+_lower\b", "10", query)
    query = re.sub(r"\b\w+_upper\b", "100", query)
    rows = connection.execute(query).fetchmany(1)
    return bool(rows) and any(cell not in (None, 0) for cell in rows[0])


class _Hospital:
    """Fills the tables with two stays of every patient whom the questions name, and the things they ask about."""

    def __init__(self, connection: sqlite3.Connection, questions: list[dict[str, Any]]) -> None:
        self._connection = connection
        self._random = random.Random(20260101)  # noqa: S311
        self._names: dict[str, list[str]] = {}
        self._asked: dict[str, list[dict[str, Any]]] = {}
        for question in questions:
            value = question["value"]
            for key, name in value.items():
                known = self._names.setdefault(re.sub(r"\d$", "", key), [])
                if name not in known:
                    known.append(name)
            if "patient_id" in value:
                self._asked.setdefault(value["patient_id"], []).append(value)
        self._rows = 0

    def fill(self) -> None:
        """Insert everything, patient by patient."""
        for number, patient in enumerate(self._names["patient_id"]):
            for stay in range(2):
                self._stay(number, patient, stay)

    def _stay(self, number: int, patient: str, stay: int) -> None:
        choice, pick = self._random.choice, self._random.randrange
        wards, routes = self._names["ward_id"], self._names["admission_route"]
        current = stay == 1 and number % 2 == 0
        admitted = _time(
            2105 if stay else 2104, 12 if current else 1 + pick(11), 1 + pick(20), pick(24)
        )
        left = None if current else admitted + datetime.timedelta(days=3 + pick(5))
        unit = 100_000 + 10 * number + stay
        hospital = 500_000 + 10 * number + stay
        wanted = self._asked.get(patient, [{}])
        ward = next((value["ward_id"] for value in wanted if "ward_id" in value), choice(wards))
        route = next(
            (value["admission_route"] for value in wanted if "admission_route" in value),
            choice(routes),
        )
        dead = left is not None and stay == 1 and number % 7 == 1
        sex, age = choice(["male", "female"]), str(20 + number * 7 % 65)
        sizes = (150 + pick(45), 50 + pick(50), 50 + pick(50))
        end = None if left is None else str(left)
        status = None if left is None else "expired" if dead else "alive"
        who = (patient, hospital, unit, sex, age, "caucasian", 50 + number % 3, ward)
        self._insert(
            "patient", (*who, *sizes, str(admitted), route, str(admitted), end, end, status)
        )
        for hours in (2, 20):
            self._events(
                patient,
                hospital,
                unit,
                admitted + datetime.timedelta(hours=hours, minutes=pick(60)),
                wanted,
            )

    def _events(
        self,
        patient: str,
        hospital: int,
        unit: int,
        time: datetime.datetime,
        wanted: list[dict[str, Any]],
    ) -> None:
        when = str(time)

        def some(key: str, count: int = 1) -> list[str]:
            asked = [
                value[name] for value in wanted for name in value if re.sub(r"\d$", "", name) == key
            ]
            return list(
                dict.fromkeys(asked + [self._random.choice(self._names[key]) for _ in range(count)])
            )

        def number(low: int, high: int) -> float:
            return round(self._random.uniform(low, high), 1)

        for name in some("diagnosis_name"):
            self._event(patient, hospital, "diagnosis", (unit, name, when, "000.0"), when)
        for name in some("procedure_name"):
            self._event(patient, hospital, "treatment", (unit, name, when), when)
        for name in some("lab_name", 2):
            self._event(patient, hospital, "lab", (unit, name, number(1, 40), when), when)
        routes = some("drug_route")
        for name in some("drug_name"):
            stop = str(time + datetime.timedelta(days=1))
            self._event(
                patient, hospital, "medication", (unit, name, "1", routes[0], when, stop), when
            )
        for name in some("drug_name")[-1:]:
            self._event(patient, hospital, "allergy", (unit, name, name, when), when)
        for kind, key in (("intake", "intake_name"), ("output", "output_name")):
            for name in some(key):
                path = f"flowsheet|flowsheet cell labels|i&o|{kind} (ml)|{name}"
                self._event(
                    patient,
                    hospital,
                    "intakeoutput",
                    (unit, path, name, number(50, 400), when),
                    when,
                )
        for name in some("culture_name"):
            self._event(
                patient,
                hospital,
                "microlab",
                (unit, name, self._random.choice(_ORGANISMS), when),
                when,
            )
        vitals = (
            number(35, 39),
            *(int(number(*limits)) for limits in ((88, 100), (55, 120), (10, 30))),
        )
        self._insert("vitalperiodic", (self._next(), unit, *vitals, 120, 75, 90, when))

    def _event(
        self, patient: str, hospital: int, table: str, cells: tuple[object, ...], when: str
    ) -> None:
        event = self._next()
        self._insert(table, (event, *cells))
        cost = round(self._random.uniform(5, 60), 2)
        self._insert("cost", (self._next(), patient, hospital, table, event, when, cost))

    def _next(self) -> int:
        self._rows += 1
        return self._rows

    def _insert(self, table: str, cells: tuple[object, ...]) -> None:
        marks = ", ".join("?" * len(cells))
        self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", cells)  # noqa: S608


def _time(year: int, month: int, day: int, hour: int) -> datetime.datetime:
    return datetime.datetime(year, month, day, hour, 15)


# ---- All ------------------------------------------------------------------------------------------------------------


def write(benchmark: str, name: str, data: bytes) -> None:
    """Write one file of a sample."""
    folder = HERE / benchmark / FOLDER
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    notice = EHRSQL_NOTICE if benchmark == "ehr_sql" else NOTICE
    (HERE / benchmark / "INVENTED.md").write_text(notice, encoding="utf-8")
    print(f"{benchmark}/{FOLDER}/{name}: {len(data)} bytes, {hashlib.sha256(data).hexdigest()}")


def main() -> None:
    """Write every sample."""
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    make_reports("mtsamples_replicate", REPORTS)
    make_reports("mtsamples_procedures", PROCEDURES)
    make_medbullets()
    make_medication_qa()
    make_med_dialog()
    make_medi_qa()
    if len(sys.argv) == 2:
        make_ehr_sql(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
