"""The right and wrong answers of a row, and options."""

import pytest

from tests.agent.datasets.plain_files import load_own, refusal, write_own


@pytest.mark.parametrize("cell", ["", "No", '"[No]"', '"{""a"": 1}"', '"[1]"', '"[""No"""'])
def test_incorrect_answers_that_are_no_json_list(tmp_path, cell):
    said = refusal(
        write_own(tmp_path, f"note,question,correct_answer,incorrect_answers\nn,q,a,{cell}\n")
    )
    assert "row 1 (line 2)" in said
    assert "incorrect_answers" in said


def test_incorrect_answers_are_kept_apart(tmp_path):
    data = (
        'note,question,correct_answer,incorrect_answers\nn,q,Yes,"[""No"", ""Maybe""]"\nn,q,No,[]\n'
    )
    made = load_own(write_own(tmp_path, data))
    assert [(r.text, r.correct) for r in made[0].references] == [
        ("Yes", True),
        ("No", False),
        ("Maybe", False),
    ]
    assert len(made[1].references) == 1


MCQ = "choices: {columns: [a, b, c]}\ngold: {column: right, form: %s}\noptional_columns: [c]\n"


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("letter", ["A", "b", " B "], ["D", "", "AB", "1"]),
        ("number", ["1", "2"], ["0", "3", "-1", "x", "²"]),
    ],
)
def test_gold_that_names_no_option(tmp_path, form, good, bad):
    prompt = "{question}\n{options}\nAnswer:"
    for value in good:
        made = load_own(
            write_own(tmp_path, f"question,a,b,c,right\nq,one,two,,{value}\n", MCQ % form, prompt)
        )
        assert [r.text for r in made[0].references] == ["one", "two"]
        assert sum(r.correct for r in made[0].references) == 1
    for value in bad:
        said = refusal(
            write_own(tmp_path, f"question,a,b,c,right\nq,one,two,,{value}\n", MCQ % form, prompt)
        )
        assert "row 1 (line 2)" in said
        assert "'right'" in said


def test_options_are_lettered_lines(tmp_path):
    prompt = "{question}\n{options}\nAnswer:"
    (made,) = load_own(
        write_own(tmp_path, "question,a,b,c,right\nq?,one,two,three,B\n", MCQ % "letter", prompt)
    )
    assert made.messages[0].content == "q?\nA. one\nB. two\nC. three\nAnswer:"
    assert made.multiple_choice


def test_a_prompt_that_forgets_the_options(tmp_path):
    said = refusal(
        write_own(tmp_path, "question,a,b,c,right\nq,1,2,3,A\n", MCQ % "letter", "{question}")
    )
    assert "lacks the placeholder {options}" in said
