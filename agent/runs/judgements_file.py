"""A file of judges' replies that were produced elsewhere: `{"instance_id": ..., "judge": ..., "reply": ...}` a line.

A judge is a seat of the jury. A second line of one judge about one answer is its reply to a request to repair the
first. Only ids and places are in memory; each reply is read when its answer is scored.
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
from agent.runs.answers_file import each_line, read_line

MOST_JUDGES = 100  # more are a file whose columns were mixed up
LONGEST_NAME = 200
_KEYS = ("instance_id", "judge", "reply")
_REPLIES = 2  # the first, and the repaired one


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
            seats: the names of the judges; None: whoever is in the file.

        Raises:
            BenchmarkError: lists every line that is no judgement, or that is of a judge without a seat.
        """
        self._file = file
        self._name = name
        self._places: dict[tuple[str, str], list[tuple[int, int]]] = {}  # (id, judge) -> line, where it begins
        judges: dict[str, None] = dict.fromkeys(seats or ())
        problems = Problems(name)
        strangers: dict[str, list[int]] = {}
        for number, place, line in each_line(file, problems):
            found = read_line(line, _KEYS)
            if isinstance(found, str):
                problems.add(f"line {number}", found)
                continue
            judge = found["judge"].strip()
            if not judge:
                problems.add(f"line {number}", "its judge has no name")
                continue
            if len(judge) > LONGEST_NAME or not judge.isprintable():
                expected = f"expected are up to {LONGEST_NAME} printable characters, without line breaks"
                problems.add(f"line {number}", f"its judge's name cannot be shown; {expected}")
                continue
            if seats is not None and judge not in judges:
                strangers.setdefault(judge, []).append(number)
                continue
            judges[judge] = None
            if len(judges) > max(MOST_JUDGES, len(seats or ())):
                raise problems.stop(f"line {number}", f"is of yet another judge: {MOST_JUDGES} seats are the most")
            earlier = self._places.setdefault((found["instance_id"], judge), [])
            if len(earlier) == _REPLIES:
                lines = " and ".join(str(before) for before, _ in earlier)
                problems.add(f"line {number}", f"is a third reply: lines {lines} have the same instance_id and judge")
                continue
            earlier.append((number, place))
        for first, *others in strangers.values():  # never by name: in a file of mixed columns it is a reply
            more = f" (and {format_count(len(others), 'line')} more)" if others else ""
            problems.add(
                f"line {first}{more}", f"is of a judge that --judges does not name; it names {', '.join(seats or ())}"
            )
        problems.check()
        if not self._places:
            raise problems.stop("the whole file", "holds no judgements")
        self.judges = tuple(judges)

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
        """See that every judgement is of an answer that is there.

        Raises:
            BenchmarkError: lists the lines whose id has no answer, with `advice`.
        """
        problems = Problems(self._name)
        for (identity, _), places in self._places.items():
            if identity not in answered:
                for number, _ in places:
                    problems.add(f"line {number}", "has an instance_id that the answers do not have")
        if problems.messages:
            raise BenchmarkError("\n".join(problems.messages), advice)

    def replies(self, identity: str, judge: str) -> list[str]:
        """Return what a judge replied about an answer: nothing, its first reply, or that and the repaired one."""
        return [
            self._reply(number, place, identity, judge) for number, place in self._places.get((identity, judge), ())
        ]

    def _reply(self, number: int, place: int, identity: str, judge: str) -> str:
        self._file.seek(place)
        found = read_line(self._file.readline(answers_file.MOST_LINE_BYTES), _KEYS)
        if isinstance(found, str) or (found["instance_id"], found["judge"].strip()) != (identity, judge):
            raise BenchmarkError(f"{self._name}: line {number}: changed while it was read; start again")
        return found["reply"]
