"""Parquet: texts redacted, other columns untouched, the same bytes however the rows are divided, damaged files."""

import datetime
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from agent.errors import RedactionError
from agent.io.progress import Progress
from agent.redaction.files.division import PieceLimits, RowPiece
from agent.redaction.files.executors import LocalExecutor
from agent.redaction.files.job import JobDescription, RedactionJob
from agent.redaction.files.parquet_format import ParquetFormat
from agent.redaction.files.piece_runner import withhold_row
from agent.redaction.files.redact_files import Outputs, redact_files
from agent.redaction.files.rows import RowTally, RowTask
from agent.redaction.files.worker import EngineChoice

CHOICE = EngineChoice("hipaa_safe_harbor", key="5ec4e7" * 10 + "0000")
TEXT = RowTask(("text",))


def write_table(path: Path, rows: int = 20, **more: Any) -> Path:
    table = pyarrow.table(
        {
            "id": pyarrow.array(range(rows), pyarrow.int16()),
            "text": [
                f"Mr. Holloway with gout, MRN: {4_471_000 + number}." for number in range(rows)
            ],
            "day": [datetime.date(2022, 3, 14)] * rows,
            "blob": [b"\x00\xff"] * rows,
            **more,
        }
    ).replace_schema_metadata({"written by": "Mr. Holloway"})
    parquet.write_table(table, path, row_group_size=6)
    return path


def redact(source: Path, task: RowTask = TEXT, out: str = "out") -> tuple[RowTally, Path]:
    description = JobDescription("parquet", str(source), CHOICE, task, CHOICE.compute_digest())
    outputs = Outputs(source.with_name(out), source.with_name(f"{out}.letters"))
    return redact_files(description, outputs, LocalExecutor(1), Progress(quiet=True)), outputs.out


def test_texts_are_redacted_and_all_other_columns_are_what_they_were(tmp_path: Path):
    source = write_table(tmp_path / "in.parquet")
    tally, out = redact(source)
    before, after = parquet.read_table(source), parquet.read_table(out)
    assert after.column("text").to_pylist() == ["[NAME-1] with gout, MRN: [MRN-1]."] * 20
    assert after.drop_columns(["text"]) == before.drop_columns(["text"])
    assert after.schema.types == before.schema.types
    assert (tally.rows, tally.identifiers, tally.unchecked_rows) == (20, 40, 0)
    assert b"Holloway" not in out.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out"]


def test_known_values_of_several_types_are_used_and_not_written_and_spans_have_names(
    tmp_path: Path,
):
    people = [{"NAME": ["Zorblatt"], "MRN": None}] * 20
    source = write_table(tmp_path / "in.parquet", people=people)
    texts = ["zorblatt has gout"] * 20
    table = parquet.read_table(source).set_column(
        1, "text", [pyarrow.array(texts).dictionary_encode()]
    )
    parquet.write_table(table, source)
    task = RowTask(("text",), spans=True, identifiers="people", others="drop")
    _, out = redact(source, task)
    assert parquet.read_table(out).to_pylist()[0] == {
        "text": "[NAME-1] has gout",
        "spans": [{"start": 0, "end": 8, "entity": "NAME"}],
    }
    as_json = pyarrow.array([json.dumps({"NAME": "Zorblatt"})] * 20)
    table = table.set_column(table.column_names.index("people"), "people", [as_json])
    parquet.write_table(table, source)
    assert redact(source, task, "other")[1].read_bytes() == out.read_bytes()


def test_a_text_that_is_no_utf8_is_withheld_and_the_other_rows_are_not(tmp_path: Path):
    texts = [b"Mr. Holloway", b"\xff Mr. Holloway", None, b"gout"]
    source = tmp_path / "in.parquet"
    column = pyarrow.array(texts, pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": column, "id": [1, 2, 3, 4]}), source)
    tally, out = redact(source)
    assert parquet.read_table(out).to_pylist() == [
        {"text": "[NAME-1]", "id": 1},
        {"text": "[WITHHELD: undecodable]", "id": 2},
        {"text": None, "id": 3},
        {"text": "gout", "id": 4},
    ]
    assert tally.first_withheld == [2]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (RowTask(("note",)), "has no column note"),
        (RowTask(("id",)), "the column id does not contain texts"),
        (RowTask(("text",), others="redact"), "is for JSON Lines"),
    ],
)
def test_what_parquet_cannot_do_is_refused_before_anything_is_written(
    task: RowTask, said: str, tmp_path: Path
):
    source = write_table(tmp_path / "in.parquet")
    with pytest.raises(RedactionError, match=said):
        redact(source, task)
    assert not (tmp_path / "out").exists()


def test_files_that_are_damaged_anywhere_are_refused_without_their_text(tmp_path: Path):
    whole = write_table(tmp_path / "whole.parquet", 400).read_bytes()
    chance = random.Random(5)
    said = []
    for number in range(40):
        bent = bytearray(whole)
        place = chance.randrange(len(bent))
        bent[place : place + 40] = chance.randbytes(40)
        source = tmp_path / "bent.parquet"
        source.write_bytes(bent[: chance.randrange(len(bent))] if number % 2 else bent)
        try:
            for piece in ParquetFormat(TEXT).divide(source, 0):
                assert list(ParquetFormat(TEXT).open_piece(source, piece).read_rows())
        except RedactionError as error:
            said.append(str(error))
    assert len(said) >= 20
    assert "Holloway" not in "".join(said)


def list_pieces(source: Path, rows: int) -> list[RowPiece]:
    return list(ParquetFormat(TEXT, PieceLimits(rows, 2**20)).divide(source, 0))


def test_every_row_is_in_one_piece_within_one_group(tmp_path: Path):
    source = write_table(tmp_path / "in.parquet")
    for rows in (1, 4, 6, 100):
        pieces = list_pieces(source, rows)
        numbers = [n for piece in pieces for n in range(piece.first, piece.first + piece.rows)]
        assert numbers == list(range(1, 21))
        assert all(piece.start // 6 == (piece.end - 1) // 6 for piece in pieces)
    big = write_table(tmp_path / "big.parquet", 5000)
    parquet.write_table(parquet.read_table(big), big)  # one group
    assert len(list_pieces(big, 1)) <= 64


def play_parts(source: Path, pieces: list[RowPiece], folder: Path) -> Iterator[Path]:
    """Write the part of each piece as an engine that changes nothing would."""
    for number, piece in enumerate(pieces):
        opened = ParquetFormat(TEXT).open_piece(source, piece)
        for line in list(opened.read_rows()):
            opened.write_row(line)
        part = folder / str(number)
        with part.open("wb") as file:
            opened.save(file)
        yield part


def test_the_bytes_do_not_tell_how_the_rows_were_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.redaction.files.parquet_format._GROUP", PieceLimits(7, 300))
    source = write_table(tmp_path / "in.parquet")
    outputs = []
    for rows in (1, 4, 6):
        pieces = list_pieces(source, rows)
        if rows == 6:
            pieces[1:2] = ParquetFormat(TEXT).halve(source, pieces[1])
        joined = io.BytesIO()
        ParquetFormat(TEXT).join(source, list(play_parts(source, pieces, tmp_path)), joined)
        outputs.append(joined.getvalue())
    assert outputs[0] == outputs[1] == outputs[2]
    joined.seek(0)
    assert parquet.read_table(joined).equals(parquet.read_table(source))


def test_a_row_that_no_engine_survives_is_withheld_and_keeps_its_other_columns(tmp_path: Path):
    source = write_table(tmp_path / "in.parquet")
    description = JobDescription("parquet", str(source), CHOICE, TEXT, CHOICE.compute_digest())
    folder = tmp_path / "parts"
    folder.mkdir()
    job = RedactionJob(folder, description)
    job.plan()
    withhold_row(folder, job.description, source, RowPiece(0, 8, 1, 7, 8))
    (part,) = folder.glob("*/8-8")
    assert parquet.read_table(part).to_pylist() == [
        {
            "id": 7,
            "text": "[WITHHELD: engine error]",
            "day": datetime.date(2022, 3, 14),
            "blob": b"\x00\xff",
        }
    ]
