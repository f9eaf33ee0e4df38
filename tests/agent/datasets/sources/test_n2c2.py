"""n2c2's patients, criteria and the day that counts as today."""

from pathlib import Path

import pytest

from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import BENCHMARKS, load, problem, prompt, sample_copy


def n2c2_patient(folder: Path, text: str, tags: str = '<ENGLISH met="met" />') -> Path:
    (folder / "test").mkdir(parents=True, exist_ok=True)
    body = f"<PatientMatching><TEXT><![CDATA[{text}]]></TEXT><TAGS>{tags}</TAGS></PatientMatching>"
    (folder / "test/100.xml").write_text(f'<?xml version="1.0" encoding="UTF-8" ?>\n{body}')
    return folder


def test_each_of_the_thirteen_criteria_comes_with_its_meaning():
    benchmark = BENCHMARKS["n2c2_ct_matching"]
    assert set(benchmark.data_options) == set(benchmark.arguments["subject"].values)
    assert len(benchmark.data_options) == 13
    for criterion, meaning in benchmark.data_options.items():
        assert f"Criterion {criterion}: {meaning}" in prompt(
            load(benchmark.id, subject=criterion)[0]
        )


def test_a_patient_is_one_unit_whatever_the_criterion_and_its_instances_differ():
    one, other = (load("n2c2_ct_matching", subject=name) for name in ("ABDOMINAL", "ENGLISH"))
    assert [instance.unit for instance in one] == [instance.unit for instance in other]
    assert not {instance.id for instance in one} & {instance.id for instance in other}


def test_today_is_the_latest_date_also_where_notes_are_out_of_order(tmp_path):
    line = "*" * 100
    notes = (
        "Record date: 2065-01-02\n\nold",
        "Record date: 2069-05-03\n\nnew",
        "no date",
        "Record date: 2067-08-09\n\nmid",
    )
    text = "".join(f"{note}\n\n{line}\n\n" for note in notes)
    (instance,) = load("n2c2_ct_matching", n2c2_patient(tmp_path, text), subject="ENGLISH")
    assert "Today is 2069-05-03." in prompt(instance)
    assert "The patient's notes (4):" in prompt(instance)
    assert "## Note 3 of 4\nno date" in prompt(instance)
    assert instance.shortenable.keep == "end"


@pytest.mark.parametrize(
    ("text", "tags", "said"),
    [
        (
            "Record date: 2069-05-03",
            '<ABDOMINAL met="met" />',
            "expected one <ENGLISH> in <TAGS>",
        ),
        (
            "Record date: 2069-05-03",
            f'<ENGLISH met="{CANARY}" />',
            "expected one <ENGLISH> in <TAGS>",
        ),
        (
            "Record date: 2069-05-03",
            '<ENGLISH met="met" /><ENGLISH met="not met" />',
            "expected one <ENGLISH>",
        ),
        (CANARY, '<ENGLISH met="met" />', "no note has a `Record date: YYYY-MM-DD`"),
        (
            "Record date: 2069-05-03]]></TEXT><TEXT><![CDATA[x",
            '<ENGLISH met="met" />',
            "expected one <TEXT>, found 2",
        ),
    ],
)
def test_a_patient_that_cannot_be_used_is_named_by_file(tmp_path, text, tags, said):
    found = problem("n2c2_ct_matching", n2c2_patient(tmp_path, text, tags), subject="ENGLISH")
    assert "test: 100.xml: " in found
    assert said in found


def test_every_wrong_patient_is_told_at_once(tmp_path):
    folder = sample_copy("n2c2_ct_matching", tmp_path)
    for number in (901, 905):
        (folder / f"test/{number}.xml").write_text("<PatientMatching/>")
    found = problem("n2c2_ct_matching", folder, subject="ENGLISH")
    assert "901.xml" in found
    assert "905.xml" in found
