"""The progress of a run: a bar that is written over on a terminal, one line elsewhere, nothing when quiet."""

import io
import re

import pytest

from agent.io.progress import Progress, ProgressReport, observe_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show(stream: io.StringIO, *, quiet: bool = False) -> str:
    progress = Progress(stream, quiet=quiet)
    progress.begin("pubmed_qa with a/b", 4)
    progress.advance(3)
    progress.note("the jury is asked later")
    progress.advance()
    progress.end()
    return stream.getvalue()


def test_a_file_gets_a_line_at_the_end_and_no_control_characters():
    said = show(io.StringIO())
    assert re.fullmatch(r"note: the jury is asked later\npubmed_qa with a/b  4/4  0\.\d s\n", said)


def test_a_terminal_gets_a_bar_that_begins_empty_and_ends_full():
    said = show(Terminal())
    assert said.startswith("\r\x1b[Kpubmed_qa with a/b  " + "·" * 24 + " 0/4")
    assert said.endswith("█" * 24 + " 4/4  0 s\n")
    assert said.count("\n") == 2  # the note's, and the end


def test_quiet_means_notes_alone():
    assert show(Terminal(), quiet=True) == "note: the jury is asked later\n"


def test_a_file_shows_at_once_and_then_rarely_that_the_first_answer_is_awaited():
    stream = io.StringIO()
    progress = Progress(stream)
    progress.begin("jury: a", 2)
    for _ in range(100):
        progress.tick()
    assert re.fullmatch(r"jury: a  0/2  0\.\d s\n", stream.getvalue())


def test_a_terminal_shows_the_time_while_the_first_answer_is_awaited(
    monkeypatch: pytest.MonkeyPatch,
):
    now = 100.0
    monkeypatch.setattr("agent.io.progress.time.monotonic", lambda: now)
    stream = Terminal()
    progress = Progress(stream)
    progress.begin("jury: a", 2)
    for _ in range(3):
        now += 1.0
        progress.tick()
    assert re.findall(r"0/2  (\d+) s", stream.getvalue()) == ["0", "1", "2", "3"]


def test_questions_without_an_answer_do_not_fill_the_bar():
    for stream in (io.StringIO(), Terminal()):
        progress = Progress(stream)
        progress.begin("pubmed_qa with a/b", 4)
        progress.advance()
        progress.fail(3)
        progress.end()
        assert "1/4 (3 without an answer)" in stream.getvalue()
        assert "4/4" not in stream.getvalue()


def test_a_note_in_the_middle_of_a_bar_has_its_own_line():
    stream = Terminal()
    progress = Progress(stream)
    progress.begin("pubmed_qa with a/b", 4)
    progress.note("the server is gone")
    progress.end()
    assert "\r\x1b[Knote: the server is gone\n\r\x1b[Kpubmed_qa" in stream.getvalue()


def test_the_time_left_is_shown_until_the_end_and_not_for_the_next_run():
    stream = Terminal()
    progress = Progress(stream)
    progress.begin("one", 2)
    progress.show_left(lambda: "12 to 18 s left")
    progress._shown -= 1.0
    progress.advance()
    assert stream.getvalue().endswith(" 1/2  0 s, 12 to 18 s left")
    progress.end()
    assert stream.getvalue().endswith(" 1/2  0 s\n")
    progress.begin("two", 2)
    assert stream.getvalue().endswith(" 0/2  0 s")


def test_the_rate_counts_what_this_command_has_finished_and_ends_with_the_forecast(
    monkeypatch: pytest.MonkeyPatch,
):
    now = 100.0
    monkeypatch.setattr("agent.io.progress.time.monotonic", lambda: now)
    reports: list[ProgressReport] = []
    stream = io.StringIO()
    with observe_progress(reports.append):
        progress = Progress(stream)
    progress.begin("own: m", 200, phase="asking")
    progress.advance_stored(100)
    progress.show_left(lambda: "20 to 30 s left")
    now += 10.0
    progress.advance(19)
    now += 10.0
    progress.advance(21)
    progress.end()
    first, second, last = stream.getvalue().splitlines()
    assert first == "own: m  119/200  10.0 s, 20 to 30 s left"  # too few to tell
    assert second == "own: m  140/200  20.0 s, 2.0/s, 20 to 30 s left"
    assert last == "own: m  140/200  20.0 s"
    assert [(report.phase, report.done) for report in reports] == [
        ("asking", 0),
        ("asking", 119),
        ("asking", 140),
        ("asking", 140),
    ]


def test_a_run_outside_the_context_of_an_observer_is_not_observed():
    reports: list[ProgressReport] = []
    with observe_progress(reports.append):
        pass
    show(io.StringIO())
    assert reports == []
