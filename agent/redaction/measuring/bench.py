"""Measuring an engine on texts whose identifiers are known, in a process of its own."""

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from agent.errors import RedactionError
from agent.io.atomic_files import open_plain
from agent.redaction.files.rows import RowTask
from agent.redaction.files.streaming import Portion, WorkerPool, lines_of, redact_stream
from agent.redaction.files.worker import EngineChoice
from agent.redaction.measuring.measures import Measured, Place, judged, measured

_TASK = RowTask(("text",), spans=True, others="drop")


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text and its identifiers."""

    text: str
    spans: tuple[Place, ...]

    def row(self) -> bytes:
        """Return the text as a row."""
        return json.dumps({"text": self.text}).encode()


@dataclass(frozen=True, slots=True)
class Bench:
    """What an engine did on a corpus, and what that cost.

    Attributes:
        found: places by text, in order; a text withheld counts as taken whole.
        withheld: texts, by reason.
        characters: of all texts.
        cpu_s: seconds of a processor for all texts, the engine being open.
        start_s: seconds from the start of the process to the first text cleared; start_cpu_s: those of a processor.
        peak_mb: most memory that the process held; None where the system does not say.
    """

    found: tuple[tuple[Place, ...], ...]
    withheld: Counter[str]
    characters: int
    cpu_s: float
    start_s: float
    start_cpu_s: float
    peak_mb: float | None

    @property
    def kchar_s(self) -> float:
        """Thousands of characters a second of one processor."""
        return self.characters / max(1e-9, self.cpu_s) / 1000


def read_gold(path: Path) -> list[GoldText]:
    """Read {"text": ..., "spans": [[start, end, kind], ...]}, one a line.

    Raises:
        RedactionError: the file cannot be read, or a row is something else; names the row.
    """
    try:
        with open_plain(path) as file:
            return [_gold(line, path, number) for number, line in enumerate(lines_of(file), 1) if line.strip()]
    except OSError as error:
        raise RedactionError(f"{path.name} cannot be read ({error.strerror})", "Name a plain file.") from error


def bench(texts: list[GoldText], choice: EngineChoice) -> Bench:
    """Let an engine find what it can in each text.

    Raises:
        RedactionError: the engine cannot be opened.
    """
    if not texts:
        raise RedactionError("there is no text to measure on", "Give a file with one object a line.")
    found: list[tuple[Place, ...]] = []
    withheld: Counter[str] = Counter()
    cpu_s, peak = 0.0, None
    with WorkerPool(choice, _TASK, 1) as process:
        began = time.monotonic()
        first = process.begin(Portion(1, (texts[0].row(),))).result()
        start_s, start_cpu_s = time.monotonic() - began, process.opening_cpu_s + first.cpu_s
        for part in redact_stream((text.row() for text in texts), lambda row: found.append(_places(row)), process):
            withheld.update(part.tally.withheld)
            cpu_s, peak = cpu_s + part.cpu_s, part.peak_mb
    return Bench(tuple(found), withheld, sum(len(text.text) for text in texts), cpu_s, start_s, start_cpu_s, peak)


def judge_all(texts: list[GoldText], found: tuple[tuple[Place, ...], ...]) -> Measured:
    """Set what was found beside what there is."""
    return measured([judged(text.text, text.spans, places) for text, places in zip(texts, found, strict=True)])


def _places(row: bytes) -> tuple[Place, ...]:
    return tuple((start, end, kind) for start, end, kind in json.loads(row)["spans"])


def _gold(line: bytes, path: Path, number: int) -> GoldText:
    wrong = RedactionError(
        f'{path.name}: row {number}: expected {{"text": "...", "spans": [[start, end, "KIND"], ...]}}',
        "Offsets count characters from 0; the end is exclusive and within the text.",
    )
    try:
        row = json.loads(line)
        text, spans = row["text"], row["spans"]
        places = tuple((int(start), int(end), str(kind)) for start, end, kind in spans)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise wrong from None
    if not isinstance(text, str) or not all(0 <= start < end <= len(text) for start, end, _ in places):
        raise wrong
    return GoldText(text, places)
