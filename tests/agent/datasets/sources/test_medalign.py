"""MedAlign: instructions, their gold answers and the records of their patients."""

import shutil

from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import gold, load, problem, prompt, sample_copy

REVIEWED, ANSWERS = "clinician-reviewed-model-responses.tsv", "clinician-instruction-responses.tsv"


def test_an_instruction_stands_for_many_models_and_its_gold_is_the_first_annotators():
    made = load("medalign")
    assert [instance.id for instance in made] == ["101", "102", "103", "104", "105", "106"]
    assert [instance.unit for instance in made] == ["7001", "7001", "7002", "7002", "7003", "7003"]
    assert not any("otherwise" in gold(instance) for instance in made)
    first = prompt(made[0])
    assert "Metformin 500 mg started" in first
    assert "Appendectomy" not in first
    assert "said something" not in first
    part = made[0].shortenable
    assert part.keep == "end"
    assert first[part.start : part.end].endswith("</record>")


def test_an_instruction_with_two_texts_or_two_patients_is_refused(tmp_path):
    folder = sample_copy("medalign", tmp_path)
    text = (folder / REVIEWED).read_text()
    (folder / REVIEWED).write_text(text + f"101\t{CANARY}\t7001\tyes\tmodel_three\tx\n")
    assert f"{REVIEWED}: row 13 (line 14): has the instruction_id of an earlier row" in problem(
        "medalign", folder
    )
    (folder / REVIEWED).write_text(
        text + "101\tWhich medicine was started at the first visit?\t7002\tyes\tm\tx\n"
    )
    assert "row 13 (line 14): has the instruction_id" in problem("medalign", folder)


def test_a_patient_without_a_record_a_second_record_and_the_releases_other_name(tmp_path):
    folder = sample_copy("medalign", tmp_path)
    records = folder / "medalign_ehr_xml"
    shutil.copy(records / "7001.xml", records / "EHR_7001.xml")
    assert "EHR_7001.xml is a second record of a patient" in problem("medalign", folder)
    (records / "7001.xml").unlink()
    assert len(load("medalign", folder)) == 6
    (records / "EHR_7001.xml").unlink()
    said = problem("medalign", folder)
    assert f"{ANSWERS}: row 2 (line 3): the patient has no record in medalign_ehr_xml" in said
    assert "row 4 (line 5)" in said


def test_a_missing_table_of_medalign_is_named(tmp_path):
    folder = sample_copy("medalign", tmp_path)
    (folder / ANSWERS).unlink()
    assert f"{ANSWERS}: is missing" in problem("medalign", folder)
