"""Texts without identifiers are read as paragraphs or as rows; a wrong line is named and not quoted."""

from pathlib import Path

import pytest

from agent.errors import RedactionError
from agent.redaction.measuring.bench import read_plain


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_paragraphs_are_texts(tmp_path: Path):
    content = "\ufeffone\r\nline two\r\n\r\n  \n\nthé last".encode()
    texts = read_plain(write(tmp_path, "plain.txt", content))
    assert [text.text for text in texts] == ["one\nline two", "thé last"]
    assert not any(text.spans for text in texts)


def test_rows_are_texts(tmp_path: Path):
    content = b'{"text": "one\\n\\ntwo", "id": 7}\n\n{"text": " "}\n{"text": "three", "spans": []}'
    texts = read_plain(write(tmp_path, "plain.JSONL", content))
    assert [text.text for text in texts] == ["one\n\ntwo", "three"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"text": "x"}\nHolloway', r'row 2: expected \{"text"'),
        ("a.jsonl", b'["Holloway"]', "row 1: expected"),
        ("a.jsonl", b'{"text": ["Holloway"]}', "row 1: expected"),
        ("a.jsonl", b'{"texts": "Holloway"}', "row 1: expected"),
        ("a.jsonl", b'{"text": "\xff"}', "row 1: expected"),
        ("a.jsonl", b'{"text": "Holloway", "spans": [[0, 8, "NAME"]]}', "row 1: has identifiers"),
        ("a.txt", b"gout\nHolloway \xff", "line 2: expected a text in UTF-8"),
    ],
)
def test_a_wrong_line_is_named_and_not_quoted(tmp_path: Path, name: str, content: bytes, said: str):
    with pytest.raises(RedactionError, match=said) as refused:
        read_plain(write(tmp_path, name, content))
    assert "Holloway" not in str(refused.value) + refused.value.advice


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(RedactionError, match="cannot be read"):
        read_plain(tmp_path)
