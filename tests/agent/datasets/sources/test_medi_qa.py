"""MEDIQA: the answer that experts ranked first, out of XML."""

from agent.metrics import score
from agent.vocabulary import Reason, Unscored
from tests.agent.datasets.sources.public import gold, load, problem, prompt


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
