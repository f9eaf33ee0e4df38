"""How a definition says that an answer is read."""

from agent.catalog.benchmark import load_benchmark
from tests.agent.catalog.definitions import GOOD, definition


def test_answers_in_json_have_a_field(tmp_path):
    assert load_benchmark(definition(tmp_path, GOOD + "parser: json\n")).answer_field == "answer"
    letters = "choices: [yes, no]\nparser: json\nanswer_field: letter\n"
    assert load_benchmark(definition(tmp_path, GOOD + letters)).answer_field == "letter"
