"""MedicationQA: questions without an answer."""

from agent.metrics import score
from agent.vocabulary import Reason, Unscored
from tests.agent.datasets.sources.public import gold, load, prompt


def test_medication_questions_without_an_answer_are_asked_and_have_no_reference():
    made = load("medication_qa")
    unanswered = [instance for instance in made if not gold(instance)]
    assert (len(made), len(unanswered)) == (8, 1)
    assert "madeupril" in prompt(unanswered[0])
    assert not any(
        "weather" in prompt(instance) for instance in made
    )  # Answer "n/a": no question about a drug
    assert score("rouge_1", "No answers", unanswered[0]) == Unscored(Reason.NO_REFERENCE)
