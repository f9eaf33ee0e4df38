"""Dialogues: only the reply to the last question can be an answer."""

from agent.reading.choice.dialogues import find_last_exchange

EXAM = "Examiner: Why not A?\nCandidate: It is weak.\nExaminer: So which?\nCandidate: C.\nExaminer: Thank you."


def test_the_last_question_and_its_reply_are_found_without_the_farewell():
    exchange = find_last_exchange(EXAM)
    assert exchange is not None
    assert exchange.start == EXAM.index("Examiner: So which?")
    assert exchange.text.split("\n")[-1].strip() == "C."
    assert exchange.text.index("So which?") == EXAM.index("So which?")


def test_a_list_of_options_is_no_dialogue():
    assert find_last_exchange("A: weak?\nB: slow?\nA: weak\nB: slow") is None
    assert find_last_exchange("Answer: C\nReason: is it not fast?") is None
