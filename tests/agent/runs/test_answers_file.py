"""A file of answers with blank lines, odd ends of lines and spaces around ids: each answer is found where it stands."""

from pathlib import Path

import pytest

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


def test_an_answer_was_cut_off_only_if_its_line_says_so(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    reasons = ['"length"', '"stop"', "null", '["length"]', '"Length"']
    lines = ['{"instance_id": "0", "answer": "5"}']
    for number, reason in enumerate(reasons, 1):
        lines.append(f'{{"instance_id": "{number}", "answer": "5", "finish_reason": {reason}}}')
    path.write_text("\n".join(lines))
    with AnswersFile.open(path) as file:
        responses = [file.response(str(number)) for number in range(len(lines))]
        assert [response and response.finish_reason for response in responses] == [
            "stop", "length", "stop", "stop", "stop", "stop"
        ]  # fmt: skip
        assert file.response("6") is None
