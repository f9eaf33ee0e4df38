"""A base model repeats its prompt: what it repeats is no answer, and what follows is."""

import pytest

from agent.metrics import read_answer, score
from agent.reading.echoes import find_echo_end
from agent.vocabulary import Instance, Message, Reference, Unscored

PROMPT = (
    "Read the abstract, then answer the research question that follows it.\n"
    "Choose A if the abstract says yes, B if it says no.\n\nAbstract: Aspirin helped.\n\nAnswer:"
)
INSTANCE = Instance(
    id="1",
    unit="1",
    messages=(Message("user", PROMPT),),
    references=(Reference("yes", correct=True), Reference("no", correct=False)),
    multiple_choice=True,
)


@pytest.mark.parametrize("end", [80, 90, 121, len(PROMPT)])
def test_a_repeated_prompt_is_no_answer(end: int) -> None:
    assert isinstance(read_answer("exact_match", PROMPT[:end], INSTANCE), Unscored)
    assert isinstance(score("exact_match", PROMPT[:end], INSTANCE), Unscored)


@pytest.mark.parametrize("answer", [" B", "\n\nThe answer is B.", " no", "B"])
def test_the_answer_below_a_repeated_prompt_is_read_at_its_own_place(answer: str) -> None:
    text = PROMPT + answer if answer != "B" else f"{PROMPT}\nB"
    reading = read_answer("exact_match", text, INSTANCE)
    assert not isinstance(reading, Unscored)
    assert reading.value == "B"
    assert reading.start >= len(PROMPT)
    assert text[reading.start : reading.end].strip(" .\n").endswith(("B", "no"))


@pytest.mark.parametrize(
    ("answer", "repeated"),
    [
        ("", ""),
        ("B", ""),
        ("Read the abstract.", ""),
        (
            "Read the abstract, then answer the reports of nurses.",
            "Read the abstract, then answer the ",
        ),
        (
            "  Read the abstract, then answer the research",
            "  Read the abstract, then answer the research",
        ),
    ],
)
def test_only_six_whole_words_or_more_are_a_repetition(answer: str, repeated: str) -> None:
    assert answer[: find_echo_end(answer, [PROMPT])] == repeated


def test_the_end_of_a_sentence_that_the_prompt_began_is_the_answer() -> None:
    prompt = "The drug of first choice against a migraine is"
    assert find_echo_end(f"{prompt} sumatriptan.", [prompt]) == len(prompt)


def test_the_prompts_own_word_for_abstention_is_no_abstention() -> None:
    prompt = "If the tables cannot answer the question, write the single word null.\n\nQuestion: How many?"
    query = Instance("1", "1", (Message("user", prompt),), (Reference("null", correct=True),))
    reading = read_answer("ehr_sql_execution_accuracy", prompt[:71], query)
    assert isinstance(reading, Unscored)
    answered = read_answer("ehr_sql_execution_accuracy", f"{prompt}\nnull", query)
    assert not isinstance(answered, Unscored)
    assert answered.start >= len(prompt)
