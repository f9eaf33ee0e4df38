"""Official formats that are wrong: every problem is named with its place."""

import io

import pytest

from agent.datasets.readers.table import Problems
from agent.datasets.sources.head_qa import read_head_qa
from agent.datasets.sources.medec import read_medec
from agent.datasets.sources.pubmed_qa import read_pubmed_qa
from agent.errors import BenchmarkError


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (read_pubmed_qa, "[]", "expected an object that maps PMIDs"),
        (read_pubmed_qa, '{"1": 2}', "article 1: expected an object"),
        (
            read_pubmed_qa,
            '{"1": {"LABELS": ["A"], "CONTEXTS": []}}',
            "article 1: LABELS and CONTEXTS",
        ),
        (read_pubmed_qa, '{"1": {}, "1": {}}', "an object has a key twice"),
        (read_head_qa, "{}", "expected an object with the key `exams`"),
        (read_head_qa, '{"exams": {"e": []}}', "exam 1: expected an object with the list `data`"),
        (
            read_head_qa,
            '{"exams": {"e": {"year": "2016", "data": [{"ra": 9, "answers": [{"aid": 1, "atext": "x"}]}]}}}',
            "exam 1 question 1: expected up to 5 answers",
        ),
        (read_medec, "a,b\n1,2\n", "lacks Sentences, Error Flag"),
    ],
)
def test_official_formats_that_are_wrong(reader, text, said):
    problems = Problems("official")
    with pytest.raises(BenchmarkError) as caught:  # noqa: PT012
        list(reader(io.StringIO(text), problems).rows)
        problems.check()
    assert "official: " in str(caught.value)
    assert said in str(caught.value)
