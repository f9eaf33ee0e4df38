"""The criteria that a judge's prompt lists, in both of MedHELM's forms, and blocks that are wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.jury.rubric import Rubric, read_rubric, read_rubric_block
from agent.metrics import MetricUse, Scale
from tests.agent.jury.corpus import BUILT_IN, OWN


def block(inside: str) -> str:
    return f"Reply in <rubric_criteria>:\n<rubric_criteria>\n{inside}\n</rubric_criteria>\nas JSON."


def test_a_map_of_lists_and_a_map_of_maps_are_read():
    assert read_rubric_block(block('{"a": ["score", "explanation"], "b": ["score"]}')) == {
        "a": ("explanation",),
        "b": (),
    }
    assert read_rubric_block(block('{"a": {"score": 0, "why": "x", "where": "y"}}')) == {
        "a": ("why", "where")
    }


def test_the_first_block_counts_and_the_word_alone_is_none():
    two = block('{"a": ["score"]}') + block('{"b": ["score"]}')
    assert read_rubric_block(two) == {"a": ()}


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("", "has no block of criteria"),
        ('["a"]', "has no block of criteria"),
        ('{"a": ["score"],}', "line 3: the block of criteria is not JSON"),
        ('{"a": ["score"]\n"b": 1}', "line 4: the block of criteria is not JSON"),
        ("{}", "the block of criteria is empty"),
        ('{"a": []}', "criterion 'a': expected a list or a map"),
        ('{"a": "score"}', "criterion 'a': expected a list or a map"),
        ('{"a": [1]}', "criterion 'a': expected a list or a map"),
        ('{"a": ["score", " "]}', "criterion 'a': expected a list or a map"),
        ('{"a": ["explanation"]}', "criterion 'a': expected `score`"),
        ('{"a": ["score", "x", "x"]}', "criterion 'a': a field is listed twice"),
        ('{"a": ["score"], "a": ["score"]}', "contains 'a' twice"),
        ('{"a": {"score": 0, "score": 1}}', "contains 'score' twice"),
        ('{" ": ["score"]}', "a criterion without a name"),
        ('{"a": ' * 5_000 + "1" + "}" * 5_000, "nested too deep"),
    ],
)
def test_a_wrong_block_is_named(inside: str, said: str):
    with pytest.raises(ValueError, match="criteri") as caught:
        read_rubric_block(block(inside))
    assert said in str(caught.value)


@given(st.text() | st.text().map(block) | st.text().map(lambda text: block("{" + text + "}")))
def test_any_prompt_has_a_rubric_or_says_what_is_wrong(prompt: str):
    try:
        fields = read_rubric_block(prompt)
    except ValueError as why:
        said = str(why)
    else:
        said = f"{len(fields)} criteria"
    assert "criteri" in said
    assert said != "0 criteria"


def test_a_rubric_is_that_of_the_metric_as_it_is_used():
    assert read_rubric(BUILT_IN) == Rubric(
        tuple(BUILT_IN.criteria), dict.fromkeys(BUILT_IN.criteria, ("explanation",)), Scale(1, 5)
    )
    own = read_rubric(OWN)
    assert (own.criteria, own.scale) == (tuple(BUILT_IN.criteria), Scale(0, 5))
    assert own.example == {k: {"score": 0, "explanation": "Say why."} for k in own.criteria}


def test_a_jury_without_criteria_is_refused():
    with pytest.raises(ValueError, match="at least one criterion"):
        read_rubric(MetricUse("jury_score"))
