"""The public sets in their publishers' formats, with the traps that they hold."""

import importlib.util
import json
import os
import re
import shutil
import sqlite3
import zipfile
from pathlib import Path

import docx
import pytest
from docx.shared import RGBColor

import agent.datasets.readers.lines as lines_module
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError, ConfigError
from agent.metrics import JUDGED, METRICS, AnswerParser, extract, score
from agent.vocabulary import Reason, Unscored
from tests.agent.catalog.shipped import BENCHMARKS

PUBLIC = {id_: benchmark for id_, benchmark in BENCHMARKS.items() if benchmark.access == "public"}
OFFICIAL = Path(os.environ.get("INTRAMURAL_OFFICIAL_DATA") or Path(__file__).parents[5] / "shared/data")
BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


def load(id_: str, path: Path | None = None, **arguments: str):
    benchmark = PUBLIC[id_]
    given = {**arguments, **({"data_path": str(path)} if path else {})}
    return load_instances(benchmark, locate_dataset(benchmark, None, given))


def problem(id_: str, path: Path, **arguments: str) -> str:
    with pytest.raises((BenchmarkError, ConfigError)) as caught:
        load(id_, path, **arguments)
    return str(caught.value)


def gold(instance) -> str:
    index = next(i for i, r in enumerate(instance.references) if r.correct)
    return "ABCDE"[index] if instance.multiple_choice else instance.references[index].text


def prompt(instance) -> str:
    return instance.messages[-1].content


# ---- Pinned sources -------------------------------------------------------------------------------------------------

NOT_FETCHED = {"mtsamples_replicate", "mtsamples_procedures", "med_dialog"}  # folders of files; no known digest


@pytest.mark.parametrize("id_", PUBLIC)
def test_every_file_that_is_fetched_is_pinned_by_commit_and_digest(id_):
    for file in PUBLIC[id_].files:
        assert bool(file.url) == (id_ not in NOT_FETCHED)
        for version in file.known if file.url else ():
            assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/.+", version.url)
            assert version.rows is not None


def test_the_invented_samples_come_out_of_their_script_again(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("make_invented_public", BENCHMARKS / "make_invented_public.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.HERE = tmp_path
    script.make_reports("mtsamples_replicate", script.REPORTS)
    script.make_reports("mtsamples_procedures", script.PROCEDURES)
    for make in (script.make_medbullets, script.make_medication_qa, script.make_med_dialog, script.make_medi_qa):
        make()
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) > 20
    for path in made:
        assert (tmp_path / path).read_bytes() == (BENCHMARKS / path).read_bytes(), path
    assert "medbullets_op5.csv" in capsys.readouterr().out


# ---- MTSamples ------------------------------------------------------------------------------------------------------


def reports(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        ("HISTORY: Cough.\nPLAN: Rest.\nSteam.\nKeywords: cough", "Rest.\nSteam."),
        ("HISTORY: Cough.PLAN: Rest.IMPRESSION: Cold.", "Rest."),
        ("History: Cough.\nPlan: Rest at home.", "Rest at home."),
        ("History: Cough.\nplan : Rest at home.", "Rest at home."),
        ("History: Cough. Plan: Rest.", "Rest."),
        ("HISTORY: We made the plan: none yet.\nSUMMARY: Well.", "Well."),  # no heading in mid-sentence
        ("HISTORY: Cough.\nASSESSMENT AND PLAN:\n1. Rest.\n2. Steam.", "1. Rest.\n2. Steam."),
        ("FINDINGS: Fluid.\nDESCRIPTION OF PROCEDURE: A needle.\nSUMMARY: Drained.\nPLAN: Wait.", "Wait."),
        ("FINDINGS: Fluid.ESTIMATED BLOOD LOSS: None.SUMMARY: Drained.", "Drained."),
        ("HISTORY: Pain.\nGROSS FINDINGS: Fluid, 20 mL.ANESTHESIA: Local.", "Fluid, 20 mL."),
        ("HISTORY: Pain.\nPLAN:\nFINDINGS: Fluid.", "Fluid."),  # an empty plan is none
        ("HISTORY: Pain.\nPLAN: See MEDICATIONS: aspirin. FOLLOW-UP: one week.", None),
    ],
)
def test_a_reports_gold_is_its_whole_plan_or_summary_or_findings(report, wanted, tmp_path):
    folder = reports(tmp_path / "r", one="HISTORY: Here to begin with. " + report, none="HISTORY: Nothing to write.")
    (instance,) = load("mtsamples_replicate", folder)
    wanted = wanted or "See MEDICATIONS: aspirin. FOLLOW-UP: one week."
    assert gold(instance) == wanted
    assert wanted not in prompt(instance)
    assert "Here to begin with" in prompt(instance)


def test_findings_are_hidden_when_they_are_the_gold_and_shown_to_a_model_that_writes_the_plan(tmp_path):
    text = "HISTORY: Pain.\nFINDINGS: Fluid in the knee.\nHISTORY: Old.\n"
    folder = reports(tmp_path / "r", found=text, planned=text + "PLAN: Draw it off.")
    found, planned = load("mtsamples_replicate", folder)
    assert (gold(found), gold(planned)) == ("Fluid in the knee.", "Draw it off.")
    assert "Fluid" not in prompt(found)
    assert "Fluid in the knee" in prompt(planned)
    for instance in load("mtsamples_procedures", folder):  # MedHELM hides all three sections here
        assert "Fluid" not in prompt(instance)


def test_a_description_that_repeats_the_gold_does_not_tell_it(tmp_path):
    told = "Normal appearing uterus and adnexa on both sides."
    folder = reports(tmp_path / "r", one=f"Description: Ligation. {told}\nHISTORY: Wish.\nFINDINGS: {told}")
    (instance,) = load("mtsamples_replicate", folder)
    assert (gold(instance), told in prompt(instance)) == (told, False)
    assert "HISTORY: Wish." in prompt(instance)


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("Seizure disorder, poorly controlled. New onset of focal weakness in the left arm.", "Seizure disorder"),
        (
            "Consult. New onset of focal weakness, in the LEFT arm; MRI was ordered.",
            "Consult.",
        ),  # and goes on otherwise
        ("New onset of focal weakness in the left arm", None),
        ("Stroke. New onset.", "Stroke. New onset."),  # names of diseases stand in many golds
    ],
)
def test_a_description_that_tells_part_of_the_gold_loses_that_sentence(description, shown, tmp_path):
    plan = "Stroke. New onset of focal weakness in the left arm, so admit today and repeat imaging."
    text = f"Sample Name: One\nDescription: {description}\n(Sample)\nHISTORY: Fell at home.\nPLAN: {plan}"
    for id_ in ("mtsamples_replicate", "mtsamples_procedures"):
        (instance,) = load(id_, reports(tmp_path / id_, one=text))
        assert "focal weakness" not in prompt(instance)
        assert "Description:" in prompt(instance)
        assert (shown or "(Sample)\nHISTORY: Fell at home.") in prompt(instance)


@pytest.mark.parametrize(
    "heading",
    [
        "GROSS OPERATIVE FINDINGS",
        "ASSESSMENT AND PLAN",
        "ASSESSMENT/PLAN",
        "POST-OP PLAN",
        "X-RAY / LAB FINDINGS",
        "IMPRESSION & PLAN",
        "DESCRIPTION OF FINDINGS",
    ],
)
@pytest.mark.parametrize("before", ["General.", "General.\n", "OK. "])
def test_nothing_of_the_golds_heading_stays(heading, before, tmp_path):
    (instance,) = load(
        "mtsamples_replicate", reports(tmp_path / "r", one=f"ANESTHESIA: {before}{heading}: A clear cyst.")
    )
    assert gold(instance) == "A clear cyst."
    assert f"ANESTHESIA: {before.strip()}\n\nTreatment plan:" in prompt(instance)


def test_upstreams_reference_is_there_for_who_wants_it(tmp_path):
    folder = reports(tmp_path / "r", one="HISTORY: Cough.\nPLAN: Rest.NOTE: Dictated.\nSteam.")
    assert [gold(i) for i in load("mtsamples_replicate", folder, reference="first_line")] == ["Rest.NOTE: Dictated."]
    assert "section, first_line" in problem("mtsamples_replicate", folder, reference="lines")


def test_a_number_sign_in_a_files_name_loses_no_report():
    assert "Invented Endoscopy #2" in {instance.id for instance in load("mtsamples_procedures")}


# ---- RaceBias -------------------------------------------------------------------------------------------------------


def supplement(path: Path, *paragraphs: tuple[str, str | None]) -> Path:
    """Write a Word document; a paragraph's last word gets the colour."""
    document = docx.Document()
    for text, color in paragraphs:
        first, _, last = text.rpartition(" ")
        paragraph = document.add_paragraph(f"{first} ")
        run = paragraph.add_run(last)
        if color:
            run.font.color.rgb = RGBColor.from_string(color)
    document.save(path)
    return path


def test_an_answer_is_race_based_when_any_of_it_is_exactly_red(tmp_path):
    path = supplement(
        tmp_path / "s.docx",
        ("Run 1: How is eGFR computed?", None),
        ("From creatinine alone.", "C00000"),
        ("Nothing else.", "000000"),
        ("Run 2: And for Black patients?", "FF0000"),  # a red question says nothing about the answer
        ("Multiply by 1.2.", None),
        ("Because of muscle.", "FF0000"),
        ("Run 3:without a space after the colon", None),
        ("Not kept.", "FF0000"),
        ("Run 1: How is eGFR computed?", None),
        ("From creatinine alone.", None),
        ("Nothing else.", None),
    )
    made = load("race_based_med", path)
    assert [gold(instance) for instance in made] == ["B", "A"]
    assert "From creatinine alone.\nNothing else." in prompt(made[0])
    assert "Not kept" not in prompt(made[0]) + prompt(made[1])


def test_answers_to_one_question_are_one_unit_however_it_is_written(tmp_path):
    path = supplement(
        tmp_path / "s.docx",
        ("Run 1: How is eGFR computed?", None),
        ("By age.", None),
        ("Run 2: how is eGFR computed\nBy a formula, which follows.", None),  # a line break, no paragraph
        ("By sex.", None),
        ("Run 1: How is capacity computed?", None),
        ("By height.", None),
    )
    one, again, other = (instance.unit for instance in load("race_based_med", path))
    assert one == again != other


def test_one_answer_with_two_labels_is_a_problem_and_not_a_guess(tmp_path):
    run = ("Run 1: How is eGFR computed?", None)
    path = supplement(tmp_path / "s.docx", run, ("By age.", None), run, ("By age.", "FF0000"))
    assert "s.docx: paragraph 3: the same answer is marked race-based in one place" in problem("race_based_med", path)


def test_what_is_no_supplement_is_refused(tmp_path):
    (tmp_path / "text.docx").write_text("Run 1: not a Word file")
    assert "is not a Word document" in problem("race_based_med", tmp_path / "text.docx")
    with zipfile.ZipFile(tmp_path / "other.docx", "w") as archive:
        archive.writestr("a.txt", "a")
    assert "is not a Word document" in problem("race_based_med", tmp_path / "other.docx")
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * (2**28 + 1))
    assert "unpacks to more than 256 MiB" in problem("race_based_med", tmp_path / "bomb.docx")
    supplement(tmp_path / "empty.docx", ("Something else.", None))
    assert 'no paragraph that begins "Run 1: ..."' in problem("race_based_med", tmp_path / "empty.docx")


# ---- Multiple choice ------------------------------------------------------------------------------------------------


def test_head_qas_right_option_is_found_whether_numbers_are_texts_or_not(tmp_path):
    answers = [{"aid": aid, "atext": f"option {aid}"} for aid in (1, "2", 10, "11")]
    questions = [
        {"qid": qid, "qtext": "Which?", "ra": ra, "answers": answers, "image": ""}
        for qid, ra in (("1", "2"), (2, 2), ("3", 1), ("4", "10"))
    ]
    exam = {"name": "e", "category": "biology", "year": "2016", "data": questions}
    path = tmp_path / "HEAD_EN.json"
    path.write_text(json.dumps({"exams": {"e": exam, "n": {**exam, "name": "n", "category": "nursery"}}}))
    assert [gold(i) for i in load("head_qa", path)] == ["B", "B", "A", "C"] * 2
    assert len(load("head_qa", path, category="nursery", language="en")) == 4
    assert len(load("head_qa", path, category="None")) == 8  # as HELM names a run of all
    assert "no rows with category=dentistry" in problem("head_qa", path, category="dentistry")
    assert "expected one of en" in problem("head_qa", path, language="es")


def test_the_copy_of_medmcqa_that_counts_from_zero_is_refused_by_name(tmp_path):
    lines = (BENCHMARKS / "med_mcqa/sample/dev.json").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    path = tmp_path / "dev.json"
    path.write_text("\n".join(json.dumps({**row, "cop": row["cop"] - 1}) for row in rows))
    message = problem("med_mcqa", path)
    assert re.search(r"dev\.json: line \d+: the column 'cop' holds a 0: .*Hugging Face.*counts from 1", message)
    assert len(load("med_mcqa", BENCHMARKS / "med_mcqa/sample/dev.json")) == len(rows)


def test_medbullets_cells_span_lines_and_every_letter_can_be_right():
    made = load("medbullets")
    assert {gold(instance) for instance in made} == set("ABCDE")
    assert "thyroid.\n\nWhich" in prompt(made[0])
    assert all("invented." not in prompt(instance) for instance in made)  # the explanation stays out


@pytest.mark.parametrize(("old", "new"), [("lab", "lab test"), ("dosage", "dosage conversion")])
def test_medcalcs_versions_spell_categories_differently_and_are_scored_alike(old, new, tmp_path):
    text = (BENCHMARKS / "medcalc_bench/sample/test_data.csv").read_text("utf-8")
    changed = re.sub(rf",{old},(decimal|integer|date)", rf",{new},\1", text)
    assert changed.count(f",{new},") >= 15
    path = tmp_path / "test_data.csv"
    path.write_text(changed, encoding="utf-8")
    dataset = locate_dataset(PUBLIC["medcalc_bench"], None, {"data_path": str(path)})
    assert dataset.known == "unknown"
    assert "not a version" in dataset.problems[0]
    for instance in load_instances(PUBLIC["medcalc_bench"], dataset):
        assert score("medcalc_bench_accuracy", gold(instance), instance) == 1.0


def test_medecs_empty_rows_are_left_out():
    text = (BENCHMARKS / "medec/sample/MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv").read_text("utf-8")
    assert text.count(",,,,,,,,") == 8
    assert len(load("medec")) == 100


MEDEC_HEAD = "Text ID,Text,Sentences,Error Flag,Error Type,Error Sentence ID,Error Sentence,Corrected Sentence\n"


def medec_row(id_: str, *sentences: str, wrong: int = -1) -> str:
    told = "\n".join(f"{number} {sentence}" for number, sentence in enumerate(sentences))
    end = "0,,-1,,NA" if wrong < 0 else f"1,diagnosis,{wrong},x,Rather this."
    return f'{id_},x,"{told}",{end}\n'


def test_a_vignette_with_and_without_its_error_is_one_unit_wherever_the_error_is(tmp_path):
    first, second = (
        "A man of 54 comes with pain in his left leg after walks.",
        "The pulses of both feet are weak today.",
    )
    third = "He smokes and takes aspirin for his heart every day."
    rows = (
        medec_row("a", f"Suspected claudication: {first}", second, third, wrong=0),
        medec_row("b", "A woman of 30 comes with a rash.", second, "Cream was given for a week.", wrong=2),
        ",,,,,,,\n",
        medec_row("c", first, second, third),
        medec_row("d", first, "His knee is red and hot, and crystals are found in it.", "Colchicine is begun today."),
    )
    (tmp_path / "m.csv").write_text(MEDEC_HEAD + "".join(rows))
    a, b, c, d = (instance.unit for instance in load("medec", tmp_path / "m.csv"))
    assert a == c
    assert len({a, b, d}) == 3


# ---- Consumer questions and dialogues -------------------------------------------------------------------------------


def test_medication_questions_without_an_answer_are_asked_and_have_no_reference():
    made = load("medication_qa")
    unanswered = [instance for instance in made if not gold(instance)]
    assert (len(made), len(unanswered)) == (8, 1)
    assert "madeupril" in prompt(unanswered[0])
    assert not any("weather" in prompt(instance) for instance in made)  # Answer "n/a": no question about a drug
    assert score("rouge_1", "No answers", unanswered[0]) == Unscored(Reason.NO_REFERENCE)


def test_mediqas_reference_is_the_answer_that_experts_ranked_first(tmp_path):
    made = load("medi_qa")
    assert [instance.id for instance in made] == ["1", "2", "3", "4", "5"]
    assert gold(made[0]).startswith("Treatment of invented syndrome: rest, tea and <plain> words.")
    assert "treatment & where" in prompt(made[0])
    path = tmp_path / "q.xml"
    answer = '<Answer ReferenceRank="2"><AnswerText>No.</AnswerText></Answer>'
    question = f'<Question QID="7"><QuestionText>Why?</QuestionText><AnswerList>{answer}</AnswerList></Question>'
    path.write_text(f"<Set>{question}</Set>")
    (instance,) = load("medi_qa", path)
    assert score("rouge_1", "No.", instance) == Unscored(Reason.NO_REFERENCE)
    path.write_text(f'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><Set>{question}</Set>')
    assert "DOCTYPE" in problem("medi_qa", path)
    path.write_text("<Set></Set>")
    assert "expected <Question" in problem("medi_qa", path)
    path.write_text("<Set>")
    assert "not well-formed" in problem("medi_qa", path)


def test_meddialogs_subset_is_asked_for_and_decides_the_file(tmp_path):
    for subset in ("healthcaremagic", "icliniq"):
        (tmp_path / subset).mkdir()
        (tmp_path / subset / "test.json").write_text(json.dumps({"data": [{"src": subset, "tgt": "s"}]}))
    assert [prompt(i).count("icliniq") for i in load("med_dialog", tmp_path, subset="icliniq")] == [1]
    assert "one of healthcaremagic, icliniq" in problem("med_dialog", tmp_path)
    assert "did you mean" in problem("med_dialog", tmp_path, subset="icliniqq").lower()
    assert (len(load("med_dialog")), len(load("med_dialog", subset="icliniq"))) == (4, 3)


# ---- MedHallu -------------------------------------------------------------------------------------------------------


def test_every_row_of_medhallu_is_asked_twice_from_any_of_its_copies(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sample = BENCHMARKS / "medhallu/sample/pqa_labeled.jsonl"
    made = load("medhallu", sample)
    assert [instance.id for instance in made[:4]] == ["1-0", "1-1", "2-0", "2-1"]
    assert [gold(instance) for instance in made[:4]] == ["0", "1", "0", "1"]
    assert [instance.unit for instance in made[:4]] == ["1", "1", "2", "2"]
    table = pyarrow.Table.from_pylist([json.loads(line) for line in sample.read_text("utf-8").splitlines()])
    parquet.write_table(table, tmp_path / "train-00000-of-00001.parquet")
    with pyarrow.ipc.new_stream(tmp_path / "data-00000-of-00001.arrow", table.schema) as stream:
        stream.write_table(table)
    assert load("medhallu", tmp_path / "train-00000-of-00001.parquet") == made
    assert load("medhallu", tmp_path / "data-00000-of-00001.arrow") == made
    (tmp_path / "bad.arrow").write_bytes(b"no arrow")
    assert "is not an Arrow stream" in problem("medhallu", tmp_path / "bad.arrow")
    (tmp_path / "bad.jsonl").write_text('{"Question": "q"}')
    assert "'Knowledge', 'Ground Truth', 'Hallucinated Answer' missing" in problem("medhallu", tmp_path / "bad.jsonl")


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("1", "1"),
        ("0.", "0"),
        ("**1**", "1"),
        ("Your judgement: 0", "0"),
        ("'1'", "1"),
        ("The trial had 10 patients and a p of 0.05, so 1", "1"),
        ("1 (hallucinated)", "1"),
        ("Yes", None),
        ("10", None),
        ("0.5", None),
        ("100%", None),
    ],
)
def test_a_judgement_is_the_last_zero_or_one(answer, read):
    benchmark = PUBLIC["medhallu"]
    parser = AnswerParser(benchmark.parser, benchmark.answer_field, benchmark.answer_pattern)
    assert extract(parser, answer) == (read or Unscored(Reason.UNPARSED))


# ---- EHRSQL ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "eicu.sqlite") as connection:
        connection.execute("create table drug (name text)")
        connection.execute("insert into drug values ('aspirin')")
    connection.close()
    (tmp_path / "eicu.sql").write_text("DROP TABLE IF EXISTS drug;\nCREATE TABLE drug\n(\n    name TEXT\n) ;\n")
    questions = [
        {"id": "a", "question": "how many?", "query": "select count(*) from drug", "is_impossible": False, "value": {}},
        {"id": "b", "question": "will it rain?", "query": "null", "is_impossible": True},
    ]
    (tmp_path / "valid.json").write_text(json.dumps(questions))
    return tmp_path


def test_questions_are_asked_with_the_schema_and_scored_on_the_sites_database(ward):
    made = load("ehr_sql", ward)
    assert [i.extra["is_impossible"] for i in made] == ["false", "true"]
    assert "CREATE TABLE drug\n(\n    name TEXT\n) ;\n\nQuestion: how many?" in prompt(made[0])
    assert "DROP TABLE" not in prompt(made[0])
    assert Path(made[0].extra["database"]) == (ward / "eicu.sqlite").resolve()
    assert score("ehr_sql_execution_accuracy", "select 1", made[0]) == 1.0


def test_the_public_database_is_told_to_hold_next_to_nothing():
    (database,) = (file for file in PUBLIC["ehr_sql"].files if file.name == "eicu.sqlite")
    assert "7 patients" in database.known[0].note


def test_a_folder_without_schema_or_database_is_refused(ward):
    (ward / "eicu.sqlite").rename(ward / "elsewhere")
    assert "expected the SQLite database (eicu.sqlite) once" in problem("ehr_sql", ward)
    (ward / "eicu.sqlite").write_text("not a database")
    assert "eicu.sqlite: the whole file: is not a SQLite database" in problem("ehr_sql", ward)
    (ward / "elsewhere").replace(ward / "eicu.sqlite")
    (ward / "eicu.sql").write_text("nothing")
    assert "expected CREATE TABLE statements" in problem("ehr_sql", ward)
    (ward / "eicu.sql").unlink()
    assert "expected the schema (eicu.sql) once" in problem("ehr_sql", ward)


def test_questions_that_contradict_themselves_are_named(ward):
    questions = json.loads((ward / "valid.json").read_text())
    questions[0]["is_impossible"] = True
    questions.append({"id": "c", "question": "no query"})
    (ward / "valid.json").write_text(json.dumps(questions))
    message = problem("ehr_sql", ward)
    assert "valid.json: question 1: is_impossible and query contradict each other" in message
    assert "valid.json: question 3: expected an object with the texts id, question and query" in message


# ---- The official files, where they are at hand ---------------------------------------------------------------------

COUNTS = {
    "pubmed_qa": ("official", "ori_pqal.json", 1000),
    "head_qa": ("unknown", "test_HEAD_EN.json", 2675),  # cut to the test split; the whole file gives the same
    "medec": ("official", "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv", 597),
    "race_based_med": ("official", "41746_2023_939_MOESM1_ESM.docx", 167),
    "aci_bench": ("unknown", "", 80),  # two of its three files
    "med_mcqa": ("official", "dev.json", 4183),
    "medcalc_bench": ("official", "test_data.csv", 1047),
    "med_qa": ("unknown", "phrases_no_exclude_test.first200.jsonl", 200),
    "medhallu": ("unknown", "pqa_labeled.first200.jsonl", 400),
}
UNITS = {"medec": 310, "race_based_med": 11, "medcalc_bench": 612, "medhallu": 200}  # others: each its own
needs_official_files = pytest.mark.skipif(not (OFFICIAL / "pubmed_qa").is_dir(), reason="needs the official files")


@needs_official_files
@pytest.mark.parametrize("id_", COUNTS)
def test_the_official_files_give_the_official_counts_and_their_gold_scores_one(id_):
    known, name, count = COUNTS[id_]
    benchmark = PUBLIC[id_]
    dataset = locate_dataset(benchmark, None, {"data_path": str(OFFICIAL / id_ / name)})
    instances = load_instances(benchmark, dataset)
    assert (dataset.known, len(instances)) == (known, count)
    assert len({instance.unit for instance in instances}) == UNITS.get(id_, count)
    parser = AnswerParser(benchmark.parser, benchmark.answer_field, benchmark.answer_pattern)
    for use in benchmark.metrics:
        # Judges and the optional encoder are not here, and a text is no more than alike itself by ROUGE.
        if use.name not in JUDGED and not use.optional and not use.name.startswith("rouge") and METRICS[use.name].fn:
            assert all(score(use, extract(parser, gold(i)), i) == 1.0 for i in instances)


@needs_official_files
def test_ehrsqls_1117_questions_of_which_362_have_no_answer(tmp_path):
    official = OFFICIAL / "ehr_sql/eicu"
    for source in (official / "valid.json", official / "eicu.sql", BENCHMARKS / "ehr_sql/invented_sample/eicu.sqlite"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    dataset = locate_dataset(PUBLIC["ehr_sql"], None, {"data_path": str(tmp_path)})
    assert (dataset.known, dataset.versions) == ("unknown", ("v1.0",))  # the database is another
    instances = load_instances(PUBLIC["ehr_sql"], dataset)
    assert len(instances) == 1117
    assert sum(instance.extra["is_impossible"] == "true" for instance in instances) == 362
    scores = {score("ehr_sql_execution_accuracy", gold(instance), instance) for instance in instances}
    assert scores == {1.0, Unscored(Reason.NO_REFERENCE)}  # most published queries find nothing in an invented database


@pytest.mark.parametrize(("benchmark", "name"), [("mtsamples_procedures", None), ("ehr_sql", "eicu.sql")])
def test_a_text_without_end_is_refused_before_it_fills_the_memory(benchmark, name, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    shutil.copytree(BENCHMARKS / benchmark / "invented_sample", folder)
    endless = folder / name if name else sorted(folder.glob("*.txt"))[0]
    endless.write_text("x" * 300_000)
    monkeypatch.setattr(lines_module, "LONGEST", 200_000)
    assert f"{endless.name}: the whole file: has more than" in problem(benchmark, folder)
