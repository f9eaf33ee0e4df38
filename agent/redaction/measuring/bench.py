"""Measure an engine, in a separate process, on texts whose identifiers are known."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.errors import RedactionError
from agent.io.atomic_files import open_plain
from agent.redaction.files.rows import RowTask
from agent.redaction.files.streaming import Portion, WorkerPool, lines_of, redact_stream
from agent.redaction.files.worker import EngineChoice
from agent.redaction.measuring.measures import (
    ComparedText,
    RedactionFigures,
    compare_text,
    summarise_texts,
)
from agent.redaction.measuring.utility import LabelledSpan

_TASK = RowTask(("text",), spans=True, others="drop")


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text and its known identifiers."""

    text: str
    spans: tuple[LabelledSpan, ...]

    def row(self) -> bytes:
        """Return the text as a row for redaction."""
        return json.dumps({"text": self.text}).encode()


@dataclass(frozen=True, slots=True)
class Bench:
    """The detections of an engine on a corpus, and their cost.

    Attributes:
        detections: detections in each text, in order. A withheld text counts as one detection of the whole text.
        withheld: number of withheld texts, by reason.
        characters: number of characters in all texts.
        cpu_s: processor seconds for all texts, once the engine is open.
        start_s: seconds from the start of the process to the first redacted text.
        start_cpu_s: processor seconds from the start of the process to the first redacted text.
        peak_mb: peak memory of the process in MB; None if the system does not report it.
    """

    detections: tuple[tuple[LabelledSpan, ...], ...]
    withheld: Counter[str]
    characters: int
    cpu_s: float
    start_s: float
    start_cpu_s: float
    peak_mb: float | None

    @property
    def kchar_s(self) -> float:
        """Thousands of characters redacted per processor second."""
        return self.characters / max(1e-9, self.cpu_s) / 1000


def read_gold(path: Path) -> list[GoldText]:
    """Read lines of {"text": ..., "spans": [[start, end, kind], ...]}, one text per line.

    Raises:
        RedactionError: the file or one of its rows cannot be read; the message gives the row.
    """
    try:
        with open_plain(path) as file:
            texts: list[GoldText] = []
            for number, line in enumerate(lines_of(file), 1):
                if line.strip():
                    texts.append(_read_gold_text(line, path, number))
            return texts
    except OSError as error:
        raise RedactionError(
            f"{path.name} cannot be read ({error.strerror})", "Give a regular file."
        ) from error


def read_plain(path: Path) -> list[GoldText]:
    """Read texts without identifiers: lines of {"text": ...} if the file ends in .jsonl, or else paragraphs.

    Empty lines separate paragraphs. Empty texts are left out.

    Raises:
        RedactionError: the file or one of its lines cannot be read, or a text has identifiers; the message gives the
            line.
    """
    read_texts = _read_plain_rows if path.suffix.lower() == ".jsonl" else _read_paragraphs
    try:
        with open_plain(path) as file:
            texts = list(read_texts(lines_of(file), path))
    except OSError as error:
        raise RedactionError(
            f"{path.name} cannot be read ({error.strerror})", "Give a regular file."
        ) from error
    return [GoldText(text, ()) for text in texts if text.strip()]


def run_bench(texts: list[GoldText], choice: EngineChoice) -> Bench:
    """Redact each text with an engine, and measure the cost.

    Raises:
        RedactionError: the engine cannot be opened.
    """
    if not texts:
        raise RedactionError(
            "there is no text to measure", "Give a file with one JSON object per line."
        )
    detections: list[tuple[LabelledSpan, ...]] = []
    withheld: Counter[str] = Counter()
    cpu_s = 0.0
    peak_mb: float | None = None
    with WorkerPool(choice, _TASK, 1) as worker:
        started = time.monotonic()
        first = worker.begin(Portion(1, (texts[0].row(),))).result()
        start_s = time.monotonic() - started
        start_cpu_s = worker.opening_cpu_s + first.cpu_s
        rows = (text.row() for text in texts)
        for portion in redact_stream(rows, lambda row: detections.append(_read_spans(row)), worker):
            withheld.update(portion.tally.withheld)
            cpu_s += portion.cpu_s
            peak_mb = portion.peak_mb
    return Bench(
        detections=tuple(detections),
        withheld=withheld,
        characters=sum(len(text.text) for text in texts),
        cpu_s=cpu_s,
        start_s=start_s,
        start_cpu_s=start_cpu_s,
        peak_mb=peak_mb,
    )


def measure_texts(
    texts: list[GoldText], detections: tuple[tuple[LabelledSpan, ...], ...]
) -> RedactionFigures:
    """Compare the detections in each text with its identifiers, and summarise all texts."""
    return summarise_texts(compare_texts(texts, detections))


def compare_texts(
    texts: list[GoldText], detections: tuple[tuple[LabelledSpan, ...], ...]
) -> list[ComparedText]:
    """Compare the detections in each text with its identifiers."""
    return [
        compare_text(text.text, text.spans, spans)
        for text, spans in zip(texts, detections, strict=True)
    ]


def _read_spans(row: bytes) -> tuple[LabelledSpan, ...]:
    return tuple((start, end, kind) for start, end, kind in json.loads(row)["spans"])


def _read_gold_text(line: bytes, path: Path, number: int) -> GoldText:
    error = RedactionError(
        f'{path.name}: row {number}: expected {{"text": "...", "spans": [[start, end, "KIND"], ...]}}',
        "Offsets count characters from 0; the end is exclusive and within the text.",
    )
    try:
        row = json.loads(line)
        text = row["text"]
        spans = tuple((int(start), int(end), str(kind)) for start, end, kind in row["spans"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise error from None
    if not isinstance(text, str) or not all(
        0 <= start < end <= len(text) for start, end, _ in spans
    ):
        raise error
    return GoldText(text, spans)


def _read_plain_rows(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text, spans = row["text"], row.get("spans")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            text, spans = None, None
        if not isinstance(text, str):
            raise RedactionError(
                f'{path.name}: row {number}: expected {{"text": "..."}}',
                "A file of plain texts must not end in .jsonl.",
            )
        if spans:
            raise RedactionError(
                f"{path.name}: row {number}: has identifiers; expected texts without any",
                "Give a file of texts with their identifiers as --gold.",
            )
        yield text


def _read_paragraphs(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    paragraph: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            decoded = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise RedactionError(
                f"{path.name}: line {number}: expected a text in UTF-8",
                "Convert the file to UTF-8.",
            ) from None
        if decoded.strip():
            paragraph.append(decoded)
            continue
        yield "\n".join(paragraph)
        paragraph = []
    yield "\n".join(paragraph)
