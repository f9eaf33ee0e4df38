"""MEDEC: empty rows, rows that contradict themselves, and vignettes with and without their error."""

import pytest

from agent.errors import BenchmarkError
from tests.agent.datasets.plain_files import load_json_file
from tests.agent.datasets.sources.public import BENCHMARKS, load


def test_medecs_empty_rows_are_left_out():
    text = (
        BENCHMARKS / "medec/sample/MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv"
    ).read_text("utf-8")
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
        medec_row(
            "b", "A woman of 30 comes with a rash.", second, "Cream was given for a week.", wrong=2
        ),
        ",,,,,,,\n",
        medec_row("c", first, second, third),
        medec_row(
            "d",
            first,
            "His knee is red and hot, and crystals are found in it.",
            "Colchicine is begun today.",
        ),
    )
    (tmp_path / "m.csv").write_text(MEDEC_HEAD + "".join(rows))
    a, b, c, d = (instance.unit for instance in load("medec", tmp_path / "m.csv"))
    assert a == c
    assert len({a, b, d}) == 3


def test_medec_rows_that_contradict_themselves(tmp_path):
    head = "Text ID,Sentences,Error Flag,Error Sentence ID,Corrected Sentence,q,a\n"
    with pytest.raises(BenchmarkError) as caught:
        load_json_file(
            tmp_path, "medec", head + "1,s,1,-1,NA,q,a\n2,s,0,3,x,q,a\n,,,,,,\n3,s,x,3,x,q,a\n"
        )
    said = str(caught.value)
    assert [f"row {n}" in said for n in (1, 2, 3, 4)] == [True, True, False, True]
    assert said.count("contradict each other") == 3
