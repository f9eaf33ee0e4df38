"""Makes the invented samples of the gated and private benchmarks, in the official layouts of the real sets.

    python benchmarks/make_invented.py [FOLDER]

Nobody in them exists, and no record was read to write them. FOLDER stands for this one (`benchmarks/`) unless given.
The output is the same every time, but for the version that pyarrow writes into Parquet files; digests that are not in
the benchmark's YAML are printed with a mark.
"""

import csv
import gzip
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
Folder = dict[str, bytes]  # path within the benchmark's folder -> content

_BEGINNING = datetime(2000, 1, 1)


# -- Writing the formats so that the bytes stay the same --------------------------------------------------------------


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> bytes:
    """Write comma- or tab-separated values."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()


def as_gzip(data: bytes) -> bytes:
    """Write a gzip file without a name or time, and stored, so that no version of zlib writes it otherwise."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=0, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def as_xlsx(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Write an Excel file with one sheet; its times, which openpyxl takes from the clock, are set to a fixed one."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (header, *rows):
        sheet.append(list(row))
    book.properties.created = _BEGINNING
    first, out = io.BytesIO(), io.BytesIO()
    book.save(first)
    with zipfile.ZipFile(first) as written, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as fixed:
        for name in sorted(written.namelist()):
            data = written.read(name)
            if name == "docProps/core.xml":  # the time of saving
                begin, end = data.index(b"<dcterms:modified"), data.index(b"</dcterms:modified>")
                data = data[: data.index(b">", begin) + 1] + b"2000-01-01T00:00:00Z" + data[end:]
            fixed.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), data)
    return out.getvalue()


def as_parquet(columns: Mapping[str, tuple[str, list[object]]], rows_in_group: int = 1000) -> bytes:
    """Write a Parquet file of columns, each (type, values)."""
    import pyarrow
    from pyarrow import parquet

    arrays = {
        name: pyarrow.array(values, type=_arrow_type(kind))
        for name, (kind, values) in columns.items()
    }
    out = io.BytesIO()
    table = pyarrow.table(arrays)
    parquet.write_table(
        table, out, compression="none", use_dictionary=False, row_group_size=rows_in_group
    )
    return out.getvalue()


def as_feather(columns: Mapping[str, tuple[str, list[object]]]) -> bytes:
    """Write a Feather file of columns, each (type, values)."""
    import pyarrow
    from pyarrow import feather

    arrays = {
        name: pyarrow.array(values, type=_arrow_type(kind))
        for name, (kind, values) in columns.items()
    }
    out = io.BytesIO()
    feather.write_feather(pyarrow.table(arrays), out, compression="uncompressed")
    return out.getvalue()


def _arrow_type(kind: str) -> object:
    import pyarrow

    kinds = {
        "int": pyarrow.int64(),
        "float": pyarrow.float32(),
        "bool": pyarrow.bool_(),
        "text": pyarrow.string(),
        "time": pyarrow.timestamp("us"),
        "texts": pyarrow.list_(pyarrow.string()),
    }
    return kinds[kind]


# -- The ten sets of one shape: a question, a note or message, a letter -----------------------------------------------

_NAMES = (
    "Ada Invented",
    "Bo Fictional",
    "Cleo Madeup",
    "Dov Nobody",
    "Eve Placeholder",
    "Finn Example",
)

_SHC: dict[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    # id -> (header of the question's column, question, rows of context and label)
    "shc_ptbm_med": (
        "prompt",
        "Does the note recommend parent training in behavior management?",
        (
            (
                "{name}, 5 y, ADHD. Parents given the dates of the parent training course; advised to start in May.",
                "A",
            ),
            ("{name}, 4 y, ADHD. Sleep and diet discussed. Return in three months.", "B"),
            (
                "{name}, 6 y. Referred family to parent behavior training, declined medication for now.",
                "A",
            ),
            ("{name}, 5 y. Teacher reports fidgeting. Rating scales sent to the school.", "B"),
            ("{name}, 4 y. Recommended evidence-based parenting classes as the first step.", "A"),
            ("{name}, 6 y. Growth normal. Influenza vaccine given.", "B"),
        ),
    ),
    "shc_sei_med": (
        "prompt",
        "Does the note document an inquiry about current side effects of the ADHD medication?",
        (
            ("{name}, 9 y, on methylphenidate. Appetite lower at lunch, sleep unchanged.", "A"),
            (
                "{name}, 8 y. Possible side effects of the new medication explained; will call in two weeks.",
                "B",
            ),
            ("{name}, 10 y. Asked about headaches and tics on the medication: none.", "A"),
            ("{name}, 7 y. Refill requested by telephone, sent to the pharmacy.", "B"),
            ("{name}, 11 y. Mother reports stomach aches since the dose was raised.", "A"),
            ("{name}, 9 y. Plan: watch weight at the next visit.", "B"),
        ),
    ),
    "shc_conf_med": (
        "prompt",
        "Does the note contain confidential content that should not be shared with a parent?",
        (
            (
                "{name}, 16 y. Seen alone. Asked for contraception and wishes this kept private.",
                "A",
            ),
            ("{name}, 15 y. Sprained ankle at football. Ice and rest.", "B"),
            ("{name}, 17 y. Told the nurse in confidence of smoking cannabis at weekends.", "A"),
            ("{name}, 14 y. Seasonal allergies, antihistamine helps.", "B"),
            ("{name}, 16 y. Screening for sexually transmitted infections at own request.", "A"),
            ("{name}, 13 y. Sports physical, no findings.", "B"),
        ),
    ),
    "shc_proxy_med": (
        "prompt",
        "Was this message sent by somebody other than the patient?",
        (
            ("Hello, this is the mother of {name}. My son has had a fever since Monday.", "A"),
            ("Hi doctor, I am {name} and I have run out of my inhaler.", "B"),
            ("Appointment on Tuesday please. Thank you.", "C"),
            ("I am writing for my wife, {name}, who cannot type at the moment.", "A"),
            ("My knee still hurts when I climb stairs. {name}", "B"),
            ("Refill needed.", "C"),
        ),
    ),
    "shc_privacy_med": (
        "prompt",
        "Does the message contain confidential information about the patient?",
        (
            ("Message about {name}: the pregnancy test we did in private was positive.", "A"),
            ("Reminder: the clinic is closed on the public holiday.", "B"),
            ("{name} told me about drinking, please do not tell the parents.", "A"),
            ("Please bring your insurance card to the visit.", "B"),
            ("Lab results of {name} for the infection we spoke of alone are back.", "A"),
            ("Parking is free behind the building.", "B"),
        ),
    ),
    "shc_bmt_med": (
        "prompt",
        "Did the patient receive another transplant after the first bone marrow transplant?",
        (
            (
                "{name}. First transplant in 2001, second allogeneic transplant in 2003 after relapse.",
                "A",
            ),
            ("{name}. Single autologous transplant in 2002, in remission since.", "B"),
            ("{name}. Two prior transplants, the last from a sibling.", "A"),
            ("{name}. Transplant in 2004, no further cell therapy.", "B"),
            ("{name}. Graft failure, then a second cord-blood transplant.", "A"),
            ("{name}. One transplant, donor lymphocytes never needed.", "B"),
        ),
    ),
    "shc_gip_med": (
        "prompt",
        "Is the patient eligible for hospice?",
        (
            (
                "{name}. Metastatic cancer, no further treatment wished, expected months. Comfort first.",
                "A",
            ),
            ("{name}. Stable heart failure, wants every treatment, walks daily.", "B"),
            ("{name}. End-stage dementia, family agrees on comfort care.", "A"),
            ("{name}. Palliative clinic for pain after surgery; cure expected.", "B"),
            ("{name}. Dialysis stopped at own wish.", "A"),
            ("{name}. First visit, goals of care not yet discussed, good function.", "B"),
        ),
    ),
    "shc_sequoia_med": (
        "question",
        "Does the patient qualify for referral to the Sequoia clinic?",
        (
            ("{name}. Serious illness with complex symptoms; agrees to a further clinic.", "A"),
            ("{name}. Symptoms controlled, no wish for further visits.", "B"),
            ("{name}. Advanced lung disease, breathless at rest, asks for support at home.", "A"),
            ("{name}. Minor procedure next week, otherwise well.", "B"),
            ("{name}. Pain not controlled by three medicines.", "A"),
            ("{name}. Moved away, followed elsewhere.", "B"),
        ),
    ),
    "shc_cdi_med": (
        "prompt",
        "Was acute kidney injury clinically present during this stay?",
        (
            ("{name}. Creatinine 0.9 on day 1, 2.4 on day 3, back to 1.0 after fluids.", "A"),
            ("{name}. Creatinine 0.8 throughout, good urine output.", "B"),
            ("{name}. Nephrology: acute tubular injury after sepsis.", "A"),
            ("{name}. Elective hernia repair, no laboratory changes.", "B"),
            ("{name}. No urine for twelve hours, dialysis for two days.", "A"),
            ("{name}. Chronic kidney disease at its usual level.", "B"),
        ),
    ),
    "shc_ent_med": (
        "prompt",
        "Does the note support a referral to an ear, nose and throat specialist?",
        (
            (
                "{name}. Seven ear infections this year, hearing test failed. Referral to ENT placed.",
                "A",
            ),
            ("{name}. ENT saw the patient last month and discharged; no need to go again.", "B"),
            ("{name}. Blood pressure check, well.", "C"),
            ("{name}. Hoarse for eight weeks, smoker, needs laryngoscopy.", "A"),
            ("{name}. Scan of the sinuses normal, ENT referral not indicated.", "B"),
            ("{name}. Note cannot be read.", ""),  # the real set has rows without a label
            ("{name}. Ankle sprain.", "C"),
        ),
    ),
}


def shc(benchmark: str) -> Folder:
    """Make one set; its last row is there twice, since upstream would merge the two."""
    column, question, cases = _SHC[benchmark]
    filled = [
        (question, text.format(name=_NAMES[i % len(_NAMES)]), label)
        for i, (text, label) in enumerate(cases)
    ]
    return {
        f"invented_{benchmark}.csv": as_csv((column, "context", "label"), [*filled, filled[-1]])
    }


# -- CLEAR ------------------------------------------------------------------------------------------------------------

_CONDITIONS = {
    "alcohol_dependence": "alcohol dependence",
    "attention_deficit_hyperactivity_disorder": "attention deficit hyperactivity disorder",
    "bipolar_disorder": "bipolar disorder",
    "chronic_pain": "chronic pain",
    "homelessness": "homelessness",
    "liver_disease": "liver disease",
    "major_depression": "major depression",
    "personality_disorder": "a personality disorder",
    "post_traumatic_stress_disorder": "post-traumatic stress disorder",
    "substance_use_disorder": "a substance use disorder",
    "suicidal_behavior": "suicidal behavior",
    "tobacco_dependence": "tobacco dependence",
    "unemployment": "unemployment",
}


def clear() -> Folder:
    """Make one Excel file a condition: six notes with a label, one row without."""
    found: Folder = {}
    for condition, name in _CONDITIONS.items():
        rows: list[tuple[str | None, int | None]] = [
            (f"{_NAMES[0]}. Past history: {name}, known since 1999.", 1),
            (f"{_NAMES[1]}. Asked about {name}: never.", 0),
            (f"{_NAMES[2]}. A relative speaks of {name}; the patient does not say.", 2),
            (None, None),
            (f"{_NAMES[3]}. Followed for {name} at another clinic.", 1),
            (f"{_NAMES[4]}. No {name}.", 0),
            (f"{_NAMES[5]}. Old chart has '? {name}', never confirmed.", 2),
        ]
        found[f"invented_sample/{condition}.xlsx"] = as_xlsx(("text", "result_human"), rows)
    return found


# -- EHRSHOT ----------------------------------------------------------------------------------------------------------

_TASKS = (
    *("guo_icu", "guo_los", "guo_readmission"),
    *(
        "lab_anemia",
        "lab_hyperkalemia",
        "lab_hypoglycemia",
        "lab_hyponatremia",
        "lab_thrombocytopenia",
    ),
    *(
        "new_acutemi",
        "new_celiac",
        "new_hyperlipidemia",
        "new_hypertension",
        "new_lupus",
        "new_pancan",
    ),
)
_CODES = (
    "Visit/IP",
    "ICD10CM/I10",
    "LOINC/2951-2",
    "RxNorm/11289",
    "SNOMED/271649006",
    "LOINC/718-7",
)
_SUBJECTS = range(9_000_001, 9_000_013)
_SPLITS = ("held_out", "held_out", "train", "held_out", "held_out", "tuning")


def _prediction_time(subject: int) -> datetime:
    return _BEGINNING + timedelta(days=subject % 100, hours=23, minutes=59)


def ehrshot() -> Folder:
    """Make twelve patients, eight of them held out; each has a code of its own before and one after the label's time.

    The labels stand in another order than the patients, and the first patient has two.
    """
    events: list[tuple[int, datetime | None, str]] = []
    for subject in _SUBJECTS:
        time = _prediction_time(subject)
        events.append((subject, None, "INVENTED//SEX//F" if subject % 2 else "INVENTED//SEX//M"))
        events.append((subject, datetime(1950, 1, 1), "MEDS_BIRTH"))
        codes = [_CODES[(subject + i) % len(_CODES)] for i in range(subject % 4 + 2)]
        events += [(subject, time - timedelta(days=30 - i), code) for i, code in enumerate(codes)]
        events.append((subject, time, f"INVENTED//KNOWN//{subject}"))  # at the very time
        events.append((subject, time + timedelta(minutes=1), f"INVENTED//LATER//{subject}"))
    values = [
        None if code.startswith("INVENTED") else float(i % 9)
        for i, (_, _, code) in enumerate(events)
    ]
    folder = "invented_sample"
    found: Folder = {
        f"{folder}/data/data.parquet": as_parquet(
            {
                "subject_id": ("int", [subject for subject, _, _ in events]),
                "time": ("time", [time for _, time, _ in events]),
                "code": ("text", [code for _, _, code in events]),
                "numeric_value": ("float", values),
            },
            rows_in_group=20,
        ),
        f"{folder}/metadata/subject_splits.parquet": as_parquet(
            {
                "subject_id": ("int", list(_SUBJECTS)),
                "split": ("text", [_SPLITS[i % len(_SPLITS)] for i in range(len(_SUBJECTS))]),
            }
        ),
    }
    for number, task in enumerate(_TASKS):
        labels = [
            (subject, _prediction_time(subject), (subject // 2 + number) % 2 == 0)
            for subject in _SUBJECTS
        ]
        labels.append((_SUBJECTS[0], _prediction_time(_SUBJECTS[0]) - timedelta(days=29), False))
        labels = [labels[i * 5 % len(labels)] for i in range(len(labels))]
        found[f"{folder}/labels/{task}/labels.parquet"] = as_parquet(
            {
                "subject_id": ("int", [subject for subject, _, _ in labels]),
                "prediction_time": ("time", [time for _, time, _ in labels]),
                "boolean_value": ("bool", [value for _, _, value in labels]),
                "integer_value": ("int", [None] * len(labels)),
                "float_value": ("float", [None] * len(labels)),
                "categorical_value": ("text", [None] * len(labels)),
            }
        )
    return found


# -- MedAlign ---------------------------------------------------------------------------------------------------------

_INSTRUCTIONS = (
    (
        101,
        7001,
        "Which medicine was started at the first visit?",
        "Metformin was started on 2001-03-02.",
    ),
    (
        102,
        7001,
        "Summarise the course of the blood sugar.",
        "HbA1c fell from 8.1% to 6.9% within a year.",
    ),
    (
        103,
        7002,
        "Has the patient ever had surgery? Which?",
        "Yes: the appendix was removed in 1998.",
    ),
    (104, 7002, "List the allergies.", "Penicillin (rash)."),
    (105, 7003, "When is the next scan due?", "In May 2004, six months after the last."),
    (
        106,
        7003,
        "Draft one sentence for the referral.",
        "Please see this patient for a growing thyroid nodule.",
    ),
)
_RECORDS = {
    7001: ("Zed Invented", ("Metformin 500 mg started", "HbA1c 8.1 %", "HbA1c 6.9 % & stable")),
    7002: (
        "Yara Madeup",
        ("Appendectomy 1998", "Allergy: penicillin (rash)", "Well, weight < 70 kg"),
    ),
    7003: (
        "Xeno Nobody",
        ("Thyroid nodule 9 mm", "Thyroid nodule 12 mm", "Next scan in six months"),
    ),
}


def medalign() -> Folder:
    """Make three patients and six instructions; each instruction is listed for two models, as in the release."""
    reviewed = [
        (number, question, person, "yes", model, f"({model} said something)")
        for number, person, question, _ in _INSTRUCTIONS
        for model in ("model_one", "model_two")
    ]
    answers = [
        (
            number,
            annotator,
            response if annotator == "Annotator_1" else "Another clinician said it otherwise.",
        )
        for number, _, _, response in _INSTRUCTIONS
        for annotator in ("Annotator_2", "Annotator_1")
    ]
    # Answered, and never given to a model: it is in one file alone, and left out.
    answers.append((199, "Annotator_1", "Nobody asked."))
    folder = "invented_sample"
    found = {
        f"{folder}/clinician-reviewed-model-responses.tsv": as_csv(
            (
                "instruction_id",
                "question",
                "person_id",
                "is_selected_ehr",
                "model_name",
                "model_response",
            ),
            reviewed,
            "\t",
        ),
        f"{folder}/clinician-instruction-responses.tsv": as_csv(
            ("instruction_id", "annotator_num", "clinician_response"), answers, "\t"
        ),
    }
    for person, (name, lines) in _RECORDS.items():
        days = "".join(
            f'  <visit type="Office Visit" start="{2001 + i}-03-02">\n   <day start="{2001 + i}-03-02">\n'
            f'    <event type="note" code="INVENTED/{i}" name="Progress note">{_escaped(line)}</event>\n'
            "   </day>\n  </visit>\n"
            for i, line in enumerate(lines)
        )
        text = f'<?xml version="1.0" encoding="UTF-8"?>\n<record>\n  <person name="{name}"/>\n{days}</record>\n'
        found[f"{folder}/medalign_ehr_xml/{person}.xml"] = text.encode()
    return found


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# -- Discharge Me! ----------------------------------------------------------------------------------------------------

_STAYS = (
    # subject, admission, why, hospital course, instructions
    (
        *(8_000_001, 28_000_001, "Fever and cough"),
        "The patient was treated for pneumonia with seven days of antibiotics.\nOxygen was stopped on day 3.",
        "Dear Ms. Nobody,\nyou were here for pneumonia. Finish the tablets and see your doctor in a week.",
    ),
    (
        *(8_000_001, 28_000_002, "Fall"),
        "Hip fracture after a fall; repaired on the second day without complications, walking with help after.",
        "Dear Ms. Nobody,\nplease do not put your whole weight on the leg for six weeks. Take the blood thinner daily.",
    ),
    (
        *(8_000_002, 28_000_003, "Chest pain"),
        "Stable.",  # short enough to stand elsewhere in the note, where it must stay
        "Dear Mr. Madeup,\nyour heart tests were normal. Come back at once if the pain returns.",
    ),
    (
        *(8_000_003, 28_000_004, "Abdominal pain"),
        "Gallstones were found; the gallbladder was taken out by keyhole surgery on day 2.",
        "Dear Mx. Example,\nkeep the wounds dry for two days and lift nothing heavy for two weeks.",
    ),
)


def dischargeme() -> Folder:
    """Make four admissions of three patients; the first has three radiology reports, in the wrong order."""
    texts, targets, reports, stays, diagnoses, triages = [], [], [], [], [], []
    for number, (subject, admission, why, course, instructions) in enumerate(_STAYS):
        wrapped = course.replace(
            " with ", " \nwith "
        )  # the note breaks its lines elsewhere than the target
        text = (
            f"Name:  ___          Unit No:  ___\n\nChief Complaint:\n{why}\n\n"
            f"History of Present Illness:\n{_NAMES[number]} came with {why.lower()}. Vital signs: Stable.\n\n"
            f"Brief Hospital Course:\n{wrapped}\n\nMedications on Admission:\nnone\n\n"
            f"Discharge Disposition:\nHome\n\nDischarge Instructions:\n{instructions}\n\nFollowup Instructions:\n___\n"
        )
        note = f"{subject}-DS-{number + 1}"
        texts.append(
            (
                note,
                subject,
                admission,
                "DS",
                number + 1,
                "2000-01-09 00:00:00",
                "2000-01-10 00:00:00",
                text,
            )
        )
        words = (len(course.split()), len(instructions.split()))
        targets.append((note, admission, course, words[0], instructions, words[1]))
        for day in (2, 1, 3) if number == 0 else (1,):
            report = (
                f"{subject}-RR-{admission}{day}",
                subject,
                admission,
                "RR",
                day,
                f"2000-01-0{day} 08:00:00",
            )
            found = f"EXAMINATION: CHEST\n\nFINDINGS: Invented finding of day {day} for admission {number + 1}."
            reports.append((*report, f"2000-01-0{day} 09:00:00", found))
        stay = 38_000_000 + number
        stays.append(
            (subject, admission, stay, "2000-01-01 01:00:00", "2000-01-01 05:00:00", "F", "WALK IN")
        )
        diagnoses.append((subject, stay, 1, "R69", 10, "Illness, unspecified"))
        triages.append((subject, stay, 98.6, 80, 16, 99, 120, 80, "0", 3, why))
    note_columns = (
        "note_id",
        "subject_id",
        "hadm_id",
        "note_type",
        "note_seq",
        "charttime",
        "storetime",
        "text",
    )
    tables = {
        "discharge": (note_columns, texts),
        "discharge_target": (
            (
                *(
                    "note_id",
                    "hadm_id",
                    "brief_hospital_course",
                    "brief_hospital_course_word_count",
                ),
                *("discharge_instructions", "discharge_instructions_word_count"),
            ),
            targets,
        ),
        "radiology": (note_columns, reports),
        "edstays": (
            (
                "subject_id",
                "hadm_id",
                "stay_id",
                "intime",
                "outtime",
                "gender",
                "arrival_transport",
            ),
            stays,
        ),
        "diagnosis": (
            ("subject_id", "stay_id", "seq_num", "icd_code", "icd_version", "icd_title"),
            diagnoses,
        ),
        "triage": (
            (
                *(
                    "subject_id",
                    "stay_id",
                    "temperature",
                    "heartrate",
                    "resprate",
                    "o2sat",
                    "sbp",
                    "dbp",
                    "pain",
                ),
                *("acuity", "chiefcomplaint"),
            ),
            triages,
        ),
    }
    folder = "invented_sample/files/discharge-me/1.3/test_phase_1"
    return {
        f"{folder}/{name}.csv.gz": as_gzip(as_csv(header, rows))
        for name, (header, rows) in tables.items()
    }


# -- MIMIC: hospital courses, radiology summaries, billing codes ------------------------------------------------------


def mimic_bhc() -> Folder:
    """Make six notes of five patients, and one without a summary."""
    cases = [
        ("cough and fever", "Pneumonia, treated with antibiotics; discharged on day 5."),
        ("a swollen leg", "Deep vein thrombosis; anticoagulation begun."),
        ("confusion", "Low sodium after a new diuretic; corrected slowly, the drug stopped."),
        ("vomiting", "Bowel obstruction that resolved without surgery."),
        ("chest pain", "Heart attack was ruled out; stress test normal."),
        ("weakness", ""),
        ("a broken wrist", "Wrist fracture, cast applied."),
    ]
    lines = [
        {
            "note_id": f"{8_100_001 + i % 5}-DS-{i + 1}",
            "input": f"<SEX> F <SERVICE> MEDICINE <CHIEF COMPLAINT> {why} <HISTORY OF PRESENT ILLNESS> "
            f"{_NAMES[i % len(_NAMES)]} came with {why}.",
            "target": target,
            "input_tokens": 20,
            "target_tokens": len(target.split()),
        }
        for i, (why, target) in enumerate(cases)
    ]
    return {"invented_mimic_bhc.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode()}


def mimic_rrs() -> Folder:
    """Make six reports, and one without an impression."""
    pairs = [
        ("the heart is normal in size . the lungs are clear .", "no acute process ."),
        ("there is a small left pleural effusion .", "small left effusion ."),
        ("the appendix measures 12 mm with stranding .", "acute appendicitis ."),
        ("no focal consolidation .", ""),
        (
            "a 9 mm stone lies in the right ureter with hydronephrosis .",
            "obstructing right ureteral stone .",
        ),
        ("no fracture is seen . alignment is normal .", "no fracture ."),
        (
            "there is a new 2 cm mass in the right upper lobe .",
            "right upper lobe mass , ct advised .",
        ),
    ]
    columns = [[pair[side] for pair in pairs] for side in (0, 1)]
    names = ("test.findings.tok", "test.impression.tok")
    return {
        f"invented_sample/{name}": "".join(f"{line}\n" for line in lines).encode()
        for name, lines in zip(names, columns, strict=True)
    }


_BILLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("hip fracture after a fall, repaired", ("S72.001A", "W19.XXXA", "0SR90JZ")),
    ("gout of the right foot", ("M1A.0710", "I10")),
    ("diabetes with chronic kidney disease", ("E11.22", "N18.3", "Z79.4")),
    ("spread of a neuroendocrine tumour to the liver", ("C7B.02", "R10.9")),
    ("sepsis from the urinary tract", ("A41.9", "N39.0", "R65.20")),
    ("heart failure", ("I50.9",)),
    ("pneumonia", ("J18.9", "J96.01", "Z87.891")),
    ("normal delivery", ("O80", "Z37.0")),
)


def mimiciv_billing_code() -> Folder:
    """Make eight summaries of six patients; among the codes are those with letters inside, and procedures."""
    patients = [8_100_001 + i % 6 for i in range(len(_BILLS))]
    texts = [
        f"Discharge summary of {_NAMES[i % len(_NAMES)]}: {why}."
        for i, (why, _) in enumerate(_BILLS)
    ]
    return {
        "invented_mimiciv_icd10.feather": as_feather(
            {
                "note_id": (
                    "text",
                    [f"{patient}-DS-{i + 20}" for i, patient in enumerate(patients)],
                ),
                "subject_id": ("int", list(patients)),
                "_id": ("int", [28_100_000 + i for i in range(len(_BILLS))]),
                "text": ("text", list(texts)),
                "target": ("texts", [list(codes) for _, codes in _BILLS]),
                "num_words": ("int", [len(text.split()) for text in texts]),
            }
        )
    }


# -- n2c2 2018, track 1 -----------------------------------------------------------------------------------------------

_CRITERIA = {
    # criterion -> (what a note says when it is met, and when it is not)
    "ABDOMINAL": ("Part of the small bowel was removed in 2060.", "No abdominal surgery."),
    "ADVANCED-CAD": (
        "Angina on exertion; had a heart attack in 2058; on two cardiac drugs.",
        "Heart healthy.",
    ),
    "ALCOHOL-ABUSE": ("Drinks six beers a day at present.", "Does not drink."),
    "ASP-FOR-MI": ("Aspirin 81 mg daily to prevent a heart attack.", "Takes no aspirin."),
    "CREATININE": ("Serum creatinine 2.1 mg/dl (high).", "Serum creatinine 0.8 mg/dl."),
    "DIETSUPP-2MOS": ("Takes a multivitamin every day.", "Takes no supplements."),
    "DRUG-ABUSE": ("Used cocaine for years.", "Never used drugs."),
    "ENGLISH": ("Speaks English.", "Speaks only an invented language, seen with an interpreter."),
    "HBA1C": ("Hemoglobin A1c 7.4%.", "Hemoglobin A1c 5.1%."),
    "KETO-1YR": ("Ketoacidosis two months ago.", "Never had ketoacidosis."),
    "MAJOR-DIABETES": ("Amputation of a toe from diabetes.", "No diabetes."),
    "MAKES-DECISIONS": ("Makes own decisions.", "A guardian makes all medical decisions."),
    "MI-6MOS": ("Myocardial infarction four weeks ago.", "No infarction in the last year."),
}


def n2c2_ct_matching() -> Folder:
    """Make six patients with two notes each; every criterion is met by three of them."""
    found: Folder = {}
    for patient in range(6):
        met = [(patient + i) % 2 == 0 for i in range(len(_CRITERIA))]
        said = [
            texts[0] if yes else texts[1]
            for texts, yes in zip(_CRITERIA.values(), met, strict=True)
        ]
        older = (
            f"Record date: 2066-0{patient + 1}-11\n\nFirst visit of {_NAMES[patient]}.\n\n\n\n"
            + "\n".join(said[:6])
        )
        newer = f"Record date: 2067-0{patient + 1}-20\n\nSecond visit.\n" + "\n".join(said[6:])
        line = "*" * 100
        tags = "".join(
            f'<{name} met="{"met" if yes else "not met"}" />\n'
            for name, yes in zip(_CRITERIA, met, strict=True)
        )
        text = (
            '<?xml version="1.0" encoding="UTF-8" ?>\n<PatientMatching>\n<TEXT><![CDATA[\n\n'
            f"{older}\n\n{line}\n\n{newer}\n\n{line}\n]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</PatientMatching>\n"
        )
        found[f"invented_sample/test/{901 + patient}.xml"] = text.encode()
    return found


# -- Private sets of other shapes -------------------------------------------------------------------------------------


def chw_care_plan() -> Folder:
    """Make five notes and an empty one."""
    notes = (
        "Headache for three days, worse in bright light, better lying down. 6 of 10. Also nausea.",
        "Cough since last week, dry, worse at night. No fever.",
        "",
        "Burning pain in the right foot, comes and goes, moves up the leg. Began slowly last month.",
        "Here for a blood pressure check. Feels well.",
        "Sudden sharp chest pain yesterday evening for ten minutes while carrying water, none since.",
    )
    return {"invented_chw_care_plan.csv": as_csv(("Visit", "MO Note"), enumerate(notes, 1))}


def starr_patient_instructions() -> Folder:
    """Make five cases; two more are left out, one by its QC and one with an empty field."""
    header = (
        *("QC", "Diagnosis", "ActualProcedure", "HistoryPhysicalNoteText", "OperativeNoteText"),
        "DischargeInstructionNoteText",
    )
    cases = [
        (
            "TRUE",
            "Cataract",
            "Lens replacement",
            "Rest the eye today. Use the drops four times a day.",
        ),
        (
            "TRUE",
            "Hernia",
            "Hernia repair",
            "Lift nothing heavier than a bag of sugar for two weeks.",
        ),
        ("FALSE", "Cyst", "Excision", "Not checked yet."),
        (
            "true",
            "Carpal tunnel syndrome",
            "Release",
            "Keep the bandage dry for five days. Move your fingers.",
        ),
        ("TRUE", "Gallstones", "Gallbladder removal", ""),
        ("TRUE", "Knee pain", "Arthroscopy", "Ice the knee. Crutches for two days."),
        (
            "TRUE",
            "Skin lesion",
            "Biopsy",
            "Change the plaster once a day. Stitches come out in a week.",
        ),
    ]
    rows = [
        (
            *(
                qc,
                diagnosis,
                procedure,
                f"{_NAMES[i % len(_NAMES)]}, otherwise well, for {procedure.lower()}.",
            ),
            *(f"{procedure} under local anaesthesia, no complications.", instructions),
        )
        for i, (qc, diagnosis, procedure, instructions) in enumerate(cases)
    ]
    return {"invented_starr_patient_instructions.csv": as_csv(header, rows)}


def mental_health() -> Folder:
    """Make six turns of two conversations."""
    talks = {
        ("Workplace", "1"): (
            (
                "I cannot sleep because of my new job.",
                "That sounds exhausting. What goes through your mind at night?",
            ),
            (
                "That I will be found out.",
                "It is hard to carry such a fear alone. When did it begin?",
            ),
            (
                "When I was promoted.",
                "A promotion can be a joy and a burden at once. What would help you this week?",
            ),
        ),
        ("Grief", "2"): (
            ("My dog died.", "I am so sorry. Would you like to tell me about your dog?"),
            (
                "She was with me for ten years.",
                "Ten years is a long time together. What do you miss most?",
            ),
            (
                "The walks.",
                "Those walks gave your days a shape. Might a small walk for her feel right?",
            ),
        ),
    }
    rows = []
    for (topic, kind), turns in talks.items():
        said: list[str] = ["counselor: Hello, what brings you here?"]
        for client, counselor in turns:
            said.append(f"client: {client}")
            rows.append((topic, kind, "\n".join(said), counselor))
            said.append(f"counselor: {counselor}")
    header = ("topic", "dialogue_type", "context", "gold_counselor_response")
    return {"invented_mental_health.csv": as_csv(header, rows)}


SAMPLES: dict[str, Callable[[], Folder]] = {
    "clear": clear,
    "ehrshot": ehrshot,
    "medalign": medalign,
    "dischargeme": dischargeme,
    "mimic_bhc": mimic_bhc,
    "mimic_rrs": mimic_rrs,
    "n2c2_ct_matching": n2c2_ct_matching,
    "mimiciv_billing_code": mimiciv_billing_code,
    "chw_care_plan": chw_care_plan,
    "starr_patient_instructions": starr_patient_instructions,
    "mental_health": mental_health,
    **{benchmark: (lambda benchmark=benchmark: shc(benchmark)) for benchmark in _SHC},  # type: ignore[misc]
}


def main() -> None:
    """Write every sample."""
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    target = Path(sys.argv[1]) if len(sys.argv) == 2 else HERE
    for benchmark, make in SAMPLES.items():
        made = make()
        for name, data in made.items():
            path = target / benchmark / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        digest = joint_digest(made)
        definition = HERE / benchmark / "benchmark.yaml"
        known = definition.is_file() and digest in definition.read_text(encoding="utf-8")
        print(
            f"{benchmark}: {len(made)} files, {digest}{'' if known else '  <- put this in benchmark.yaml'}"
        )


def joint_digest(made: Folder) -> str:
    """Return the digest that the benchmark's YAML has: of the file, or of the "digest  name" lines of a folder's."""
    digests = {
        name.removeprefix("invented_sample/"): hashlib.sha256(made[name]).hexdigest()
        for name in made
    }
    if len(digests) == 1:
        return next(iter(digests.values()))
    names = sorted(digests, key=lambda name: Path(name).parts)
    return hashlib.sha256(
        "".join(f"{digests[name]}  {name}\n" for name in names).encode()
    ).hexdigest()


if __name__ == "__main__":
    main()
