"""Braces, dollars and placeholders of a prompt."""

import pytest

from agent.catalog.template import compile_template


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{note}", "N"),
        ("{note}{q}", "NQ"),
        ('{"answer": "{note}"}', '{"answer": "N"}'),
        ('Answer as {"answer": ...} please: {note}', 'Answer as {"answer": ...} please: N'),
        ('{"a": {"b": 1}} {note}', '{"a": {"b": 1}} N'),
        ("{{note}} {note}", "{note} N"),  # as str.format reads it, and so MedHELM
        ('{{"answer": "A"}} {note}', '{"answer": "A"} N'),
        ("cost: $5 {note} ${note}", "cost: $5 N $N"),
        ("{ } {} { {note}", "{ } {} { N"),
        ("{1,2} {note}", "{1,2} N"),
        ("{Patient Note}", "P"),
        ("no fields", "no fields"),
        ("", ""),
    ],
)
def test_braces_and_dollars_in_a_prompt(text, rendered):
    cells = {"note": "N", "q": "Q", "Patient Note": "P"}
    template, problems = compile_template(text, cells)
    assert problems == ()
    assert template.render(cells) == rendered


def test_a_cells_own_braces_are_left_alone():
    template, _ = compile_template("{note}/{q}", ["note", "q"])
    assert template.render({"note": "{q} $x {{", "q": "2"}) == "{q} $x {{/2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n{nota}", "line 2: {nota} is not a column (did you mean 'note'?)"),
        ("{Note}", "{Note} is not a column (did you mean 'note'?)"),
        ("{note} {{x}} {unheard_of}", "{unheard_of} is not a column"),
        ("{note!r}", None),
        ('{"json": 1} {patient id}', "{patient id} is not a column (did you mean 'patient_id'?)"),
    ],
)
def test_a_misspelt_placeholder_is_named(text, said):
    _, problems = compile_template(text, ["note", "patient_id"])
    assert (problems == ()) if said is None else any(said in problem for problem in problems)
