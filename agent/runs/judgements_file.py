"""A file of judges' replies that were produced elsewhere: `{"instance_id": ..., "judge": ..., "reply": ...}` a line.

A judge is a seat of the jury. A second line of one judge about one answer is its reply to a request to repair the
first. Only ids and offsets are in memory; each reply is read when its answer is scored.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Self

from agent.datasets.readers.table import Problems
from agent.errors import BenchmarkError
from agent.io.atomic_files import open_plain
from agent.io.wording import format_count
from agent.runs import answers_file
from agent.runs.answers_file import FileLine, iter_lines, read_line

MAX_JUDGES = 100  # more are a file whose columns were mixed up
MAX_NAME_LENGTH = 200
_KEYS = ("instance_id", "judge", "reply")
_REPLIES = 2  # the first, and the repaired one


class _JudgementReader:
    """Collects the judgements of a file line by line, with every problem."""

    def __init__(self, name: str, seats: Sequence[str] | None) -> None:
        self.problems = Problems(name)
        self.lines: dict[tuple[str, str], list[FileLine]] = {}  # by instance id and judge
        self.judges: dict[str, None] = dict.fromkeys(seats or ())  # in order
        self._seats = seats
        self._most_judges = max(MAX_JUDGES, len(seats or ()))
        self._unseated: dict[str, list[int]] = {}  # judge without a seat -> numbers of its lines

    def add(self, line: FileLine) -> None:
        """Add one line, or the problem with it.

        Raises:
            BenchmarkError: it is of more judges than any jury has.
        """
        place = f"line {line.number}"
        fields = read_line(line.content, _KEYS)
        if isinstance(fields, str):
            self.problems.add(place, fields)
            return
        judge = fields["judge"].strip()
        fault = _check_name(judge)
        if fault:
            self.problems.add(place, fault)
            return
        if self._seats is not None and judge not in self.judges:
            self._unseated.setdefault(judge, []).append(line.number)
            return
        self.judges[judge] = None
        if len(self.judges) > self._most_judges:
            raise self.problems.stop(
                place, f"is of yet another judge: {MAX_JUDGES} seats are the most"
            )
        replies = self.lines.setdefault((fields["instance_id"], judge), [])
        if len(replies) == _REPLIES:
            numbers = " and ".join(str(reply.number) for reply in replies)
            self.problems.add(
                place, f"is a third reply: lines {numbers} have the same instance_id and judge"
            )
            return
        replies.append(line.without_content())

    def check(self) -> None:
        """Raise BenchmarkError if any line has a problem, or if the file holds no judgement."""
        seats = ", ".join(self._seats or ())
        for first, *others in self._unseated.values():
            more = f" (and {format_count(len(others), 'line')} more)" if others else ""
            # The judge is not quoted: in a file of mixed columns it is a reply.
            self.problems.add(
                f"line {first}{more}",
                f"is of a judge that --judges does not name; it names {seats}",
            )
        self.problems.check()
        if not self.lines:
            raise self.problems.stop("the whole file", "holds no judgements")


def _check_name(judge: str) -> str:
    """Return the fault of a judge's name; "" for none."""
    if not judge:
        return "its judge has no name"
    if len(judge) > MAX_NAME_LENGTH or not judge.isprintable():
        expected = f"expected are up to {MAX_NAME_LENGTH} printable characters, without line breaks"
        return f"its judge's name cannot be shown; {expected}"
    return ""


class JudgementsFile:
    """An open file of judgements, whose every line was checked.

    Attributes:
        judges: the seats by name: as they were given, else in the order in which the file first names them.
    """

    def __init__(self, name: str, file: BinaryIO, seats: Sequence[str] | None = None) -> None:
        """Read the file through.

        Args:
            name: of the file, for messages.
            file: open at its beginning.
            seats: the names of the judges; None: every judge that the file names.

        Raises:
            BenchmarkError: lists every line that is no judgement, or that is of a judge without a seat.
        """
        self._file = file
        self._name = name
        reader = _JudgementReader(name, seats)
        for line in iter_lines(file, reader.problems):
            reader.add(line)
        reader.check()
        self._lines = reader.lines
        self.judges = tuple(reader.judges)

    @classmethod
    @contextmanager
    def open(cls, path: Path, seats: Sequence[str] | None = None) -> Iterator[Self]:
        """Open and check the file for the length of a `with` block.

        Raises:
            BenchmarkError: it cannot be read, or is no file of judgements.
        """
        try:
            with open_plain(path) as file:
                yield cls(path.name, file, seats)
        except OSError as why:
            raise BenchmarkError(f"{path.name}: cannot be read ({why.strerror})") from None

    def refuse_others(self, answered: Collection[str], advice: str = BenchmarkError.advice) -> None:
        """Check that every judgement is of an answer that exists.

        Raises:
            BenchmarkError: lists the lines whose id has no answer, with `advice`.
        """
        problems = Problems(self._name)
        for (identity, _), replies in self._lines.items():
            if identity in answered:
                continue
            for line in replies:
                problems.add(
                    f"line {line.number}", "has an instance_id that the answers do not have"
                )
        if problems.messages:
            raise BenchmarkError("\n".join(problems.messages), advice)

    def replies(self, identity: str, judge: str) -> list[str]:
        """Return a judge's replies about an answer: none, the first, or the first and the repaired one."""
        lines = self._lines.get((identity, judge), ())
        return [self._read_reply(line, identity, judge) for line in lines]

    def _read_reply(self, line: FileLine, identity: str, judge: str) -> str:
        self._file.seek(line.offset)
        fields = read_line(self._file.readline(answers_file.MAX_LINE_BYTES), _KEYS)
        if isinstance(fields, str) or (fields["instance_id"], fields["judge"].strip()) != (
            identity,
            judge,
        ):
            raise BenchmarkError(
                f"{self._name}: line {line.number}: changed while it was read; start again"
            )
        return fields["reply"]
