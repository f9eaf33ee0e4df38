"""Read judges' replies produced elsewhere from a JSON Lines file.

Each line has the form `{"instance_id": ..., "judge": ..., "reply": ...}`. Each judge fills one seat of the jury. A
second line from the same judge for the same answer is its corrected reply, given after its first could not be parsed.
Only ids and offsets are kept in memory. Each reply is read when its answer is scored.
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

MAX_JUDGES = 100  # a file that names more judges probably has its columns mixed up
MAX_NAME_LENGTH = 200
_KEYS = ("instance_id", "judge", "reply")
_OBJECT_KEYS = ("reply",)  # a reply in JSON may also be written as the object itself
_REPLIES = 2  # the first reply and the corrected one


class _JudgementReader:
    """Collects the judgements and the problems of a file, line by line."""

    def __init__(self, name: str, seats: Sequence[str] | None) -> None:
        self.problems = Problems(name)
        self.lines: dict[tuple[str, str], list[FileLine]] = {}  # by instance id and judge
        self.judges: dict[str, None] = dict.fromkeys(seats or ())  # used as an ordered set
        self._seats = seats
        self._most_judges = max(MAX_JUDGES, len(seats or ()))
        self._unseated: dict[str, list[int]] = {}  # line numbers by judge without a seat
        self._faults: list[str] = []
        self._has_judgements = False

    def add(self, line: FileLine) -> None:
        """Add one line, or record the problem with it.

        Raises:
            BenchmarkError: the file names more judges than a jury can have.
        """
        place = f"line {line.number}"
        fields = read_line(line.content, _KEYS, object_keys=_OBJECT_KEYS)
        if isinstance(fields, str):
            self._faults.append(fields)
            self.problems.add(place, fields)
            return
        self._has_judgements = True
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
                place, f"names one judge too many: a jury has at most {MAX_JUDGES} seats"
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
        """Raise BenchmarkError if any line has a problem or the file contains no judgements."""
        seats = ", ".join(self._seats or ())
        for first, *others in self._unseated.values():
            more = f" (and {format_count(len(others), 'line')} more)" if others else ""
            # Do not quote the judge's name, because in a file with mixed-up columns it would be a reply.
            self.problems.add(
                f"line {first}{more}",
                f"names a judge that is not in --judges, which names {seats}",
            )
        if not self._has_judgements and len(self._faults) > 1 and len(set(self._faults)) == 1:
            raise Problems(self.problems.file_name).stop("every line", self._faults[0])
        self.problems.check()
        if not self.lines:
            raise self.problems.stop("the whole file", "contains no judgements")


def _check_name(judge: str) -> str:
    """Return a description of the fault in a judge's name, or an empty string if it is valid."""
    if not judge:
        return "the judge's name is empty"
    if len(judge) > MAX_NAME_LENGTH or not judge.isprintable():
        expected = f"a name has up to {MAX_NAME_LENGTH} printable characters and no line breaks"
        return f"the judge's name cannot be displayed; {expected}"
    return ""


class JudgementsFile:
    """An open file of judgements. Every line is validated when the file is opened.

    Attributes:
        judges: names of the seats, as given to the constructor or, if none were given, in order of first appearance in
            the file.
    """

    def __init__(self, name: str, file: BinaryIO, seats: Sequence[str] | None = None) -> None:
        """Read and validate the whole file.

        Args:
            name: name of the file, for messages.
            file: the file, open at its beginning.
            seats: names of the judges; None accepts every judge that the file names.

        Raises:
            BenchmarkError: lists every line that is not a judgement or names a judge without a seat.
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
        """Open and validate the file, and close it at the end of the `with` block.

        Raises:
            BenchmarkError: the file cannot be read or is not a file of judgements.
        """
        try:
            with open_plain(path) as file:
                yield cls(path.name, file, seats)
        except OSError as why:
            raise BenchmarkError(f"{path.name}: cannot be read ({why.strerror})") from None

    def refuse_others(self, answered: Collection[str], advice: str = BenchmarkError.advice) -> None:
        """Check that every judgement belongs to an answer that exists.

        Raises:
            BenchmarkError: lists the lines whose id has no answer, and gives `advice`.
        """
        problems = Problems(self._name)
        for (identity, _), replies in self._lines.items():
            if identity in answered:
                continue
            for line in replies:
                problems.add(f"line {line.number}", "has an instance_id that is not in the answers")
        if problems.messages:
            raise BenchmarkError("\n".join(problems.messages), advice)

    def replies(self, identity: str, judge: str) -> list[str]:
        """Return a judge's replies about an answer: none, one, or the first reply and the corrected one."""
        lines = self._lines.get((identity, judge), ())
        return [self._read_reply(line, identity, judge) for line in lines]

    def _read_reply(self, line: FileLine, identity: str, judge: str) -> str:
        self._file.seek(line.offset)
        content = self._file.readline(answers_file.MAX_LINE_BYTES)
        fields = read_line(content, _KEYS, object_keys=_OBJECT_KEYS)
        if isinstance(fields, str) or (fields["instance_id"], fields["judge"].strip()) != (
            identity,
            judge,
        ):
            raise BenchmarkError(
                f"{self._name}: line {line.number}: changed while the file was being read; start again"
            )
        return fields["reply"]
