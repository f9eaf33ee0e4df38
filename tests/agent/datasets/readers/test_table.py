"""Problems of a table: counted, named by column, and never with a cell's text."""

from tests.agent.datasets.own import CANARY
from tests.agent.datasets.plain_files import HEAD, refusal, write_own


def test_many_problems_are_counted_and_not_all_shown(tmp_path):
    said = refusal(write_own(tmp_path, HEAD + ",q,a\n" * 80))
    assert said.count("\n") == 50
    assert said.endswith("... and 30 more")


def test_a_column_twice(tmp_path):
    said = refusal(write_own(tmp_path, "note,note,question,correct_answer\n1,2,3,4\n"))
    assert "the column 'note' occurs more than once: columns 1, 2" in said


def test_a_file_without_its_header_line_does_not_have_its_first_patient_quoted(tmp_path):
    for first in (f"{CANARY} {CANARY}", CANARY, "Margarethe", "questions", "John note of Tuesday"):
        data = f"{first},{first},{first},Is it so?\n{first},{first},b,Yes\n"
        said = refusal(write_own(tmp_path, data))
        assert first not in said
        assert "the header line: a column name occurs more than once: columns 1, 2, 3" in said
        assert (
            "data.csv: line 1: contains none of the columns 'note', 'question', 'correct_answer'; "
            "is the header line missing?" in said
        )
