"""The progress of a run: a bar that is written over on a terminal, one line elsewhere, nothing when quiet."""

import io
import re
from collections.abc import Sequence

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


def begin_lanes(stream: io.StringIO, labels: Sequence[str], **options: bool) -> list[Progress]:
    shared = Progress(stream, **options)
    lanes = [shared.open_lane() for _ in labels]
    for lane, label in zip(lanes, labels, strict=True):
        lane.begin(label, 4, phase="asking")
    return lanes


def draw_screen(said: str, width: int = 80) -> list[str]:
    """Return the lines that a terminal shows which obeys the controls that are used here, and breaks long lines."""
    lines, row, column = [""], 0, 0
    for control, text in re.findall(r"(\r|\n|\x1b\[\d*[AKJ])|([^\r\n\x1b]+)", said):
        if text:
            for character in text:
                if column == width:
                    row, column = row + 1, 0
                while len(lines) <= row:
                    lines.append("")
                lines[row] = (
                    lines[row][:column].ljust(column) + character + lines[row][column + 1 :]
                )
                column += 1
        elif control == "\r":
            column = 0
        elif control == "\n":
            row, column = row + 1, 0
            while len(lines) <= row:
                lines.append("")
        elif control.endswith("A"):
            row -= int(control[2:-1])
        elif control.endswith("K"):
            lines[row] = lines[row][:column]
        else:
            lines[row:] = [lines[row][:column]]
    return lines


def test_runs_at_the_same_time_have_a_line_each_on_a_terminal():
    stream = Terminal()
    left, right = begin_lanes(stream, ["one: a/left", "one: a/right"])
    left.advance(2)
    right._shown -= 1.0
    right.advance(3)
    shown = draw_screen(stream.getvalue())
    assert [line.partition("  ")[0] for line in shown] == ["one: a/left", "one: a/right"]
    assert " 2/4 " in shown[0]
    assert " 3/4 " in shown[1]
    left.note("a server is gone")
    left.advance(2)
    left.end()
    left.begin("two: a/left", 4)
    right.advance()
    right.end()
    left.end()
    shown = draw_screen(stream.getvalue())
    assert [line.partition("  ")[0] for line in shown] == [
        "note: a server is gone",
        "one: a/left",
        "one: a/right",
        "two: a/left",
        "",
    ]
    assert " 4/4 " in shown[1]
    assert " 4/4 " in shown[2]


def test_long_names_are_cut_where_a_broken_line_could_not_be_drawn_over():
    stream = Terminal()
    lanes = begin_lanes(stream, [f"{number}: {'long ' * 20}" for number in range(3)])
    for _ in range(3):
        for lane in lanes:
            lane._shown -= 1.0
            lane.advance()
    shown = draw_screen(stream.getvalue())
    assert [line[:3] for line in shown] == ["0: ", "1: ", "2: "]
    assert all(" 3/4 " in line for line in shown)


def test_more_runs_than_lines_and_a_notebook_have_one_line_together():
    for labels, options in ((["a", "b"], {"one_line": True}), ([str(n) for n in range(30)], {})):
        stream = Terminal()
        lanes = begin_lanes(stream, labels, **options)
        lanes[0]._shown -= 1.0
        lanes[0].advance(3)
        last = draw_screen(stream.getvalue())[-1]
        assert last.startswith(f"{len(labels)} runs at once  ")
        assert f" 3/{4 * len(labels)} " in last


def test_runs_at_the_same_time_have_plain_lines_in_a_file():
    stream = io.StringIO()
    left, right = begin_lanes(stream, ["one: a/left", "one: a/right"])
    right.advance(4)
    right.end()
    left.advance(4)
    left.end()
    first, second = stream.getvalue().splitlines()
    assert first.startswith("one: a/right  4/4  ")
    assert second.startswith("one: a/left  4/4  ")


def test_who_observes_runs_at_the_same_time_hears_of_all_of_them():
    reports: list[ProgressReport] = []
    with observe_progress(reports.append):
        left, right = begin_lanes(io.StringIO(), ["one: a/left", "one: a/right"])
    left.show_left(lambda: "3 to 4 s left")
    right.show_left(lambda: "30 to 40 s left")
    left.advance_stored(1)
    left.advance(2)
    right.fail()
    left._display._observed -= 2.0
    right.advance()
    assert reports[-1].label == "2 runs at once"
    assert (reports[-1].phase, reports[-1].left) == ("asking", "30 to 40 s left")
    counts = (reports[-1].done, reports[-1].failed, reports[-1].total, reports[-1].stored)
    assert counts == (4, 1, 8, 1)
    right.end()
    left._display._observed -= 2.0
    left.advance()
    assert (reports[-1].label, reports[-1].done, reports[-1].total) == ("one: a/left", 4, 4)
