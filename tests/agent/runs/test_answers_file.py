"""A file of answers with blank lines, odd ends of lines and spaces around ids: each answer is found where it stands."""

import re
from pathlib import Path

import pytest

from agent.errors import BenchmarkError
from agent.runs.answers_file import AnswersFile

BLANKS = {"none": b"", "empty": b"\n", "windows": b"\r\n", "spaces": b"   \t\n"}


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
def test_an_answer_after_blank_lines_is_its_own(tmp_path: Path, blank: bytes):
    lines = [b'{"instance_id": "%d", "answer": "says %d \xc3\xa9"}\n' % (n, n) for n in range(4)]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(blank + blank.join(lines) + blank)
    with AnswersFile.open(path) as file:
        assert [file.answer(str(n)) for n in (3, 0, 2, 1)] == [
            f"says {n} \u00e9" for n in (3, 0, 2, 1)
        ]
        assert file.answer("4") is None


def test_spaces_around_an_id_are_no_part_of_it(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"instance_id": " q1 ", "answer": "A"}\n{"instance_id": "q2\\n", "answer": " B "}\n'
    )
    with AnswersFile.open(path) as file:
        file.refuse_others({"q1", "q2"})
        assert (file.answer("q1"), file.answer("q2")) == ("A", " B ")


def write_reasons(path: Path, reasons: list[str]) -> Path:
    """Write one answer for each reason, which is JSON; the ids count from 0."""
    lines = []
    for number, reason in enumerate(reasons):
        lines.append(f'{{"instance_id": "{number}", "answer": "5", "finish_reason": {reason}}}')
    path.write_text("\n".join(lines))
    return path


def test_an_answer_was_cut_off_only_if_its_line_says_so(tmp_path: Path):
    expected = {
        '"length"': "length",
        '"MAX_TOKENS"': "length",
        '"model_length"': "length",
        '"stop"': "stop",
        '"end_turn"': "stop",
        "null": "stop",
        '"SAFETY"': "content_filter",
    }
    path = write_reasons(tmp_path / "answers.jsonl", list(expected))
    with AnswersFile.open(path) as file:
        responses = [file.response(str(number)) for number in range(len(expected))]
        assert [response and response.finish_reason for response in responses] == list(
            expected.values()
        )
        assert file.response("7") is None


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ('"lenght"', "its finish_reason is unknown; known are stop: stop, end_turn"),
        ('["length"]', "its finish_reason is not a string"),
    ],
)
def test_an_unknown_finish_reason_raises(tmp_path: Path, reason: str, said: str):
    path = write_reasons(tmp_path / "answers.jsonl", ['"stop"', reason])
    with pytest.raises(BenchmarkError, match="answers.jsonl: line 2: " + re.escape(said)):
        AnswersFile.open(path).__enter__()


def test_a_cut_off_thought_stays_cut_off_if_the_line_says_stop(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"instance_id": 1, "answer": "<think>It may", "finish_reason": "stop"}')
    with AnswersFile.open(path) as file:
        response = file.response("1")
        assert response is not None
        assert response.finish_reason == "length"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-16", "the whole file: is not UTF-8 (it looks like UTF-16); save the file as UTF-8"),
        (
            "utf-16-be",
            "the whole file: is not UTF-8 (it looks like UTF-16); save the file as UTF-8",
        ),
        ("latin-1", "the whole file: is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_file_in_another_encoding_is_named_as_such(tmp_path: Path, encoding: str, said: str):
    path = tmp_path / "answers.jsonl"
    lines = [f'{{"instance_id": "{number}", "answer": "fièvre"}}\n' for number in range(3)]
    path.write_bytes("".join(lines).encode(encoding))
    with pytest.raises(BenchmarkError, match=re.escape(said)):
        AnswersFile.open(path).__enter__()


def test_a_key_twice_raises(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"instance_id": 1, "answer": "A", "answer": "B"}\n')
    with pytest.raises(BenchmarkError, match="line 1: has a key twice"):
        AnswersFile.open(path).__enter__()
