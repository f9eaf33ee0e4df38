"""Files in pieces: the same bytes as at once, what a stop leaves, and what others do to the files meanwhile."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from agent.errors import BusyError, RedactionError
from agent.io.atomic_files import lock_folder
from agent.io.progress import Progress
from agent.redaction.files import formats
from agent.redaction.files.division import PieceLimits, RowPiece
from agent.redaction.files.executors import LocalExecutor, raise_error
from agent.redaction.files.job import JobDescription, RedactionJob, locate_part
from agent.redaction.files.redact_files import Outputs, redact_files
from agent.redaction.files.rows import RowTask
from agent.redaction.files.worker import EngineChoice
from tests.agent.cli.jsonl import read, written

CHOICE = EngineChoice("hipaa_safe_harbor", key="5ec4e7" * 10 + "0000")


def row(number: int) -> dict[str, object]:
    return {"id": number, "text": f"Mr. Holloway with gout, MRN: {4_471_000 + number}."}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_small(name: str, task: RowTask) -> formats.FileFormat:
        return formats.JsonLinesFormat(PieceLimits(7, 2**20))

    monkeypatch.setattr("agent.redaction.files.job.open_format", open_small)


def describe(source: Path) -> JobDescription:
    return JobDescription("jsonl", str(source), CHOICE, RowTask(("text",)), CHOICE.compute_digest())


def make_outputs(folder: Path) -> Outputs:
    return Outputs(folder / "out", folder / "letters.jsonl")


class StopAfter:
    """Stops the command after some pieces, as Ctrl-C does."""

    patience_s = 0.0

    def __init__(self, most: int) -> None:
        self.most = most
        self.done: list[RowPiece] = []

    def describe(self) -> str:
        return ""

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        for piece in LocalExecutor(1).run(job, pieces):
            if piece is not None:
                self.done.append(piece)
            yield piece
            if len(self.done) == self.most:
                raise KeyboardInterrupt


def test_a_stopped_job_continues_where_it_was_and_says_which_rows_are_withheld(tmp_path: Path):
    rows = [*(row(number) for number in range(20)), {"text": "a\x00b"}, row(21)]
    source = written(tmp_path / "in.jsonl", *rows)
    outputs = make_outputs(tmp_path)
    first = StopAfter(2)
    with pytest.raises(KeyboardInterrupt):
        redact_files(describe(source), outputs, first, Progress(quiet=True))
    assert not outputs.out.exists()
    assert outputs.parts.stat().st_mode & 0o777 == 0o700
    for path in outputs.parts.rglob("*"):
        assert path.is_dir() or b"Holloway" not in path.read_bytes()
    second = StopAfter(99)
    tally = redact_files(describe(source), outputs, second, Progress(quiet=True))
    assert len(first.done) + len(second.done) == 4
    assert (tally.rows, tally.identifiers, tally.withheld_rows) == (22, 42, 1)
    shown = read(outputs.out)
    assert [entry.get("id") for entry in shown] == [*range(20), None, 21]
    assert read(outputs.dead_letters) == [
        {"file": "in.jsonl", "row": 21, "reasons": ["undecodable"]}
    ]
    assert not outputs.parts.exists()


def test_parts_of_other_rules_are_not_taken_over(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *(row(number) for number in range(20)))
    outputs = make_outputs(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        redact_files(describe(source), outputs, StopAfter(1), Progress(quiet=True))
    spans = JobDescription(
        "jsonl", str(source), CHOICE, RowTask(("text",), spans=True), CHOICE.compute_digest()
    )
    again = StopAfter(99)
    redact_files(spans, outputs, again, Progress(quiet=True))
    assert sum(piece.rows for piece in again.done) == 20
    assert all("spans" in entry for entry in read(outputs.out))


def test_a_folder_keeps_its_finished_files_and_redoes_only_what_was_changed(tmp_path: Path):
    source = tmp_path / "in"
    source.mkdir()
    written(source / "a.jsonl", *(row(number) for number in range(9)))
    bad = written(source / "b.jsonl", row(1), {"note": "Mr. Holloway"})
    outputs = make_outputs(tmp_path)
    with pytest.raises(RedactionError, match="row 2: has no field text"):
        redact_files(describe(source), outputs, LocalExecutor(1), Progress(quiet=True))
    assert len(read(outputs.out / "a.jsonl")) == 9
    written(bad, row(1), row(2), row(3))
    again = StopAfter(99)
    tally = redact_files(describe(source), outputs, again, Progress(quiet=True))
    assert sum(piece.rows for piece in again.done) == 3
    assert tally.rows == 12
    assert len(read(outputs.out / "b.jsonl")) == 3
    assert outputs.out.stat().st_mode & 0o777 == 0o700


def test_a_file_that_changes_meanwhile_is_not_joined(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *(row(number) for number in range(20)))

    class Changing(StopAfter):
        def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
            yield from super().run(job, pieces)
            written(source, *(row(number) for number in range(30)))

    with pytest.raises(RedactionError, match="was changed while"):
        redact_files(describe(source), make_outputs(tmp_path), Changing(99), Progress(quiet=True))
    assert not (tmp_path / "out").exists()


class HalvesFirst(StopAfter):
    """Does each piece by halves, and then as a whole, as a node does that was thought lost."""

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        for piece in pieces:
            halves = job.halve(piece) if piece.rows > 1 else [piece]
            for _ in LocalExecutor(1).run(job, iter([*halves, piece])):
                yield None
            yield piece


def test_a_node_that_was_thought_lost_and_finishes_a_divided_piece_adds_and_loses_no_row(
    tmp_path: Path,
):
    source = written(tmp_path / "in.jsonl", *(row(number) for number in range(20)))
    tally = redact_files(
        describe(source), make_outputs(tmp_path), HalvesFirst(99), Progress(quiet=True)
    )
    assert [entry["id"] for entry in read(tmp_path / "out")] == list(range(20))
    assert (tally.rows, tally.identifiers) == (20, 40)


class LatePath(StopAfter):
    """Shows the last finished part only after a second, as a file system of many machines does."""

    patience_s = 20.0

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        yield from super().run(job, pieces)
        last = locate_part(job.folder, job.shards[0], self.done[-1])
        report = last.with_name(f"{last.name}.json")
        hidden = report.rename(report.with_name("hidden"))
        Timer(1, hidden.rename, [report]).start()


def test_a_part_that_a_shared_path_shows_late_is_waited_for(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *(row(number) for number in range(20)))
    redact_files(describe(source), make_outputs(tmp_path), LatePath(99), Progress(quiet=True))
    assert [entry["id"] for entry in read(tmp_path / "out")] == list(range(20))


class LosesDisk(StopAfter):
    """Fails after two pieces, as a node does whose disk is full."""

    def run(self, job: RedactionJob, pieces: Iterator[RowPiece]) -> Iterator[RowPiece | None]:
        for piece in super().run(job, pieces):
            yield piece
            if len(self.done) == 2:
                raise_error({"error": ["a file cannot be written there", None]})


def test_an_error_of_one_node_costs_no_finished_work_and_the_user_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    source = written(tmp_path / "in.jsonl", *(row(number) for number in range(20)))
    outputs = make_outputs(tmp_path)
    with pytest.raises(RedactionError, match="cannot be written"):
        redact_files(describe(source), outputs, LosesDisk(99), Progress(quiet=True))
    assert "kept in .out.parts: run the command again" in capsys.readouterr().err
    again = StopAfter(99)
    redact_files(describe(source), outputs, again, Progress(quiet=True))
    assert sum(piece.rows for piece in again.done) == 6
    assert [entry["id"] for entry in read(outputs.out)] == list(range(20))


def test_a_list_of_dead_letters_of_an_earlier_output_does_not_stay(tmp_path: Path):
    outputs = make_outputs(tmp_path)
    source = written(tmp_path / "in.jsonl", {"text": "a\x00b"})
    redact_files(describe(source), outputs, LocalExecutor(1), Progress(quiet=True))
    assert len(read(outputs.dead_letters)) == 1
    written(source, row(1))
    redact_files(describe(source), outputs, LocalExecutor(1), Progress(quiet=True))
    assert not outputs.dead_letters.exists()


def test_two_commands_do_not_write_the_same_output(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", row(1))
    outputs = make_outputs(tmp_path)
    with lock_folder(outputs.parts), pytest.raises(BusyError):
        redact_files(describe(source), outputs, LocalExecutor(1), Progress(quiet=True))


def test_the_halves_of_a_piece_hold_its_rows(tmp_path: Path):
    source = written(tmp_path / "in.jsonl", *(row(number) for number in range(20)))
    whole = formats.JsonLinesFormat(PieceLimits(7, 2**20))
    for piece in whole.divide(source, 0):
        halves = whole.halve(source, piece)
        assert len(halves) == 2
        lines = [line for half in halves for line in whole.open_piece(source, half).read_rows()]
        assert lines == list(whole.open_piece(source, piece).read_rows())
        assert [half.first for half in halves] == [piece.first, piece.first + halves[0].rows]
        assert json.loads(lines[0])["id"] == piece.first - 1
