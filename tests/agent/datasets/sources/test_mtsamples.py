"""MTSamples: the gold is one section of a report, and nothing else of the report tells it."""

from pathlib import Path

import pytest

from tests.agent.datasets.sources.public import gold, load, problem, prompt


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
        (
            "HISTORY: We made the plan: none yet.\nSUMMARY: Well.",
            "Well.",
        ),  # no heading in mid-sentence
        ("HISTORY: Cough.\nASSESSMENT AND PLAN:\n1. Rest.\n2. Steam.", "1. Rest.\n2. Steam."),
        (
            "FINDINGS: Fluid.\nDESCRIPTION OF PROCEDURE: A needle.\nSUMMARY: Drained.\nPLAN: Wait.",
            "Wait.",
        ),
        ("FINDINGS: Fluid.ESTIMATED BLOOD LOSS: None.SUMMARY: Drained.", "Drained."),
        ("HISTORY: Pain.\nGROSS FINDINGS: Fluid, 20 mL.ANESTHESIA: Local.", "Fluid, 20 mL."),
        ("HISTORY: Pain.\nPLAN:\nFINDINGS: Fluid.", "Fluid."),  # an empty plan is none
        ("HISTORY: Pain.\nPLAN: See MEDICATIONS: aspirin. FOLLOW-UP: one week.", None),
    ],
)
def test_a_reports_gold_is_its_whole_plan_or_summary_or_findings(report, wanted, tmp_path):
    folder = reports(
        tmp_path / "r",
        one="HISTORY: Here to begin with. " + report,
        none="HISTORY: Nothing to write.",
    )
    (instance,) = load("mtsamples_replicate", folder)
    wanted = wanted or "See MEDICATIONS: aspirin. FOLLOW-UP: one week."
    assert gold(instance) == wanted
    assert wanted not in prompt(instance)
    assert "Here to begin with" in prompt(instance)


def test_findings_are_hidden_when_they_are_the_gold_and_shown_to_a_model_that_writes_the_plan(
    tmp_path,
):
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
    folder = reports(
        tmp_path / "r", one=f"Description: Ligation. {told}\nHISTORY: Wish.\nFINDINGS: {told}"
    )
    (instance,) = load("mtsamples_replicate", folder)
    assert (gold(instance), told in prompt(instance)) == (told, False)
    assert "HISTORY: Wish." in prompt(instance)


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        (
            "Seizure disorder, poorly controlled. New onset of focal weakness in the left arm.",
            "Seizure disorder",
        ),
        (
            "Consult. New onset of focal weakness, in the LEFT arm; MRI was ordered.",
            "Consult.",
        ),  # and goes on otherwise
        ("New onset of focal weakness in the left arm", None),
        ("Stroke. New onset.", "Stroke. New onset."),  # names of diseases stand in many golds
    ],
)
def test_a_description_that_tells_part_of_the_gold_loses_that_sentence(
    description, shown, tmp_path
):
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
        "mtsamples_replicate",
        reports(tmp_path / "r", one=f"ANESTHESIA: {before}{heading}: A clear cyst."),
    )
    assert gold(instance) == "A clear cyst."
    assert f"ANESTHESIA: {before.strip()}\n\nTreatment plan:" in prompt(instance)


def test_upstreams_reference_is_there_for_who_wants_it(tmp_path):
    folder = reports(tmp_path / "r", one="HISTORY: Cough.\nPLAN: Rest.NOTE: Dictated.\nSteam.")
    assert [gold(i) for i in load("mtsamples_replicate", folder, reference="first_line")] == [
        "Rest.NOTE: Dictated."
    ]
    assert "section, first_line" in problem("mtsamples_replicate", folder, reference="lines")


def test_a_number_sign_in_a_files_name_loses_no_report():
    assert "Invented Endoscopy #2" in {instance.id for instance in load("mtsamples_procedures")}
