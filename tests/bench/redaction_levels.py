"""What each level of redaction finds and takes: the picture and the table in docs/redaction-policies.md.

Recall is measured on the invented texts of tests/data/deid; tags per 1,000 words and changed questions on the harmless
ones among them, and on questions of public benchmarks (their samples, searched cell by cell as on a page). The curve is
the default policy with other odds of the model's bounds (`model_odds`).

    python tests/bench/redaction_levels.py              draws both from redaction_levels.tsv
    python tests/bench/redaction_levels.py --measure    measures again first: some minutes of one processor
"""

import argparse
import csv
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.plots.svg import ACCENT, PAPER, Drawing, element, rectangle, text
from agent.redaction.gateway.cells import split_messages
from agent.redaction.measuring.bench import GoldText, measure_texts, read_gold
from agent.redaction.measuring.measures import RedactionFigures
from agent.redaction.measuring.utility import LabelledSpan
from agent.redaction.policy.policy import Level, RedactionPolicy, choose_policy, load_policy
from agent.redaction.redacted import CuedText, Withheld
from agent.redaction.spans.span import Span
from agent.vocabulary import Instance

if TYPE_CHECKING:
    from agent.redaction.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT / "tests/data/deid"
BENCHMARKS = ROOT / "benchmarks"
POINTS = Path(__file__).with_name("redaction_levels.tsv")
PICTURE = ROOT / "docs/redaction-levels.svg"
PAGE = ROOT / "docs/redaction-policies.md"
BEGIN, END = "<!-- levels: tests/bench/redaction_levels.py -->", "<!-- /levels -->"

INVENTED = ("invented_queries", "invented_notes", "invented_general")
QUESTIONS = ("med_qa", "med_mcqa", "head_qa", "pubmed_qa")
CURVE = (0.03, 0.1, 0.25, 1, 2, 4, 8, 16, 50, 200, 1000)  # odds
LEVELS: tuple[Level, ...] = ("readable", "default", "strict")

WIDTH, PLANE, TOP, LEFT, DEPTH = 760, 660, 56, 70, 330
TICKS = (2, 5, 10, 20, 50, 100)  # tags per 1,000 words


@dataclass(frozen=True)
class Point:
    """One measured setting. `level` is empty for a point of the curve that is no level."""

    level: str
    odds: float
    identifiers: int
    recall: float
    low: float
    high: float
    words: int
    tags: float  # per 1,000 words
    questions: int
    changed: float  # share of them whose options, numbers or units changed


def measure() -> list[Point]:
    """Measure all levels, and the points of the curve."""
    gold = [gold for name in INVENTED for gold in read_gold(CORPORA / f"{name}.jsonl")]
    questions: list[Question] = []
    for one in gold:
        if not one.spans:
            questions.append(Question(one.text, ((0, CuedText(one.text)),)))
    for name in QUESTIONS:
        questions += read_questions(name)
    points = []
    for level in LEVELS:
        points.append(measure_policy(level, load_policy(choose_policy(level)), gold, questions))
    default = load_policy(choose_policy("default"))
    for odds in CURVE:
        policy = default.model_copy(update={"model_odds": float(odds)})
        points.append(measure_policy("", policy, gold, questions))
    return points


def read_questions(name: str) -> list["Question"]:
    """Read the questions in the sample of a public benchmark."""
    benchmark = load_benchmark(BENCHMARKS / name)
    instances = iter_instances(benchmark, locate_dataset(benchmark, None, {}))
    return [cut_question(instance) for instance in instances]


def cut_question(instance: Instance) -> "Question":
    """Return the stretch of the last message that its cells span."""
    message = split_messages(instance)[-1]
    cells: list[tuple[int, CuedText]] = []
    position = 0
    for fixed, cell in zip(message.fixed, message.cells, strict=False):
        position += len(fixed)
        assert isinstance(cell, CuedText)
        cells.append((position, cell))
        position += len(cell.text)
    begin = cells[0][0]
    moved = tuple((start - begin, cell) for start, cell in cells)
    return Question(instance.messages[-1].content[begin:position], moved)


@dataclass(frozen=True)
class Question:
    """A question of a benchmark without its instructions, and the cells that are searched, with their positions."""

    text: str
    cells: tuple[tuple[int, CuedText], ...]

    def detect(self, engine: "Engine") -> tuple[LabelledSpan, ...]:
        """Return what an engine takes from the cells."""
        taken: list[LabelledSpan] = []
        results = engine.find_record([cell for _, cell in self.cells])
        for (start, cell), spans in zip(self.cells, results, strict=True):
            taken += list_spans(spans, start, cell.text)
        return tuple(taken)


def list_spans(spans: tuple[Span, ...] | Withheld, start: int, text: str) -> list[LabelledSpan]:
    """Return the spans of a text that stands at `start`; a withheld text is one span."""
    if isinstance(spans, Withheld):
        return [(start, start + len(text), "WITHHELD")]
    return [(start + span.start, start + span.end, span.entity) for span in spans]


def measure_questions(questions: Sequence[Question], engine: "Engine") -> RedactionFigures:
    """Measure what an engine takes from questions, which identify nobody."""
    return measure_texts(
        [GoldText(question.text, ()) for question in questions],
        tuple(question.detect(engine) for question in questions),
    )


def measure_policy(
    level: str, policy: RedactionPolicy, gold: Sequence[GoldText], questions: Sequence[Question]
) -> Point:
    """Measure one policy."""
    from agent.redaction.engine import build_engine

    engine = build_engine(policy)
    detections = []
    for one in gold:
        (spans,) = engine.find_record([one.text])
        detections.append(tuple(list_spans(spans, 0, one.text)))
    found = measure_texts(list(gold), tuple(detections)).all.core
    utility = measure_questions(questions, engine).utility
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    point = Point(
        level=level,
        odds=policy.model_odds,
        identifiers=found.n,
        recall=round(found.value, 4),
        low=round(found.low, 4),
        high=round(found.high, 4),
        words=utility.words,
        tags=round(utility.tags_per_1000_words or 0, 2),
        questions=utility.changed.n,
        changed=round(utility.changed.value or 0, 4),
    )
    print(point, flush=True)
    return point


def write_points(points: Sequence[Point]) -> None:
    """Write the measured points."""
    with POINTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, [field.name for field in fields(Point)], dialect="excel-tab", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(asdict(point) for point in points)


def read_points() -> list[Point]:
    """Read the measured points."""
    with POINTS.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file, dialect="excel-tab"))
    types = {field.name: field.type for field in fields(Point)}
    return [Point(**{name: types[name](value) for name, value in row.items()}) for row in rows]  # type: ignore[operator]


def write_table(points: Sequence[Point]) -> str:
    """Return the table of the levels for the page."""
    lines = [
        "| level | identifiers found | tags per 1,000 harmless words | harmless questions changed |",
        "|---|---|---|---|",
    ]
    for point in points:
        if point.level:
            found = f"{point.recall:.3f} ({point.low:.3f} to {point.high:.3f})"
            lines.append(
                f"| `{point.level}` | {found} | {point.tags:.1f} | {100 * point.changed:.0f} % |"
            )
    return "\n".join(lines)


def replace_table(page: str, table: str) -> str:
    """Return the page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def draw(points: Sequence[Point]) -> bytes:
    """Draw recall against tags per 1,000 words: the curve, and the levels as large dots with their intervals."""
    curve = sorted((point for point in points if not point.level), key=lambda point: point.odds)
    levels = [point for point in points if point.level]
    floor = math.floor(min(point.recall for point in points) * 20) / 20
    parts = [
        text(0, 22, "Levels of redaction", size=16, font_weight=650),
        text(0, 44, "Share of identifiers found", kind="quiet", size=12),
        *draw_axes(floor),
        draw_line(curve, floor),
    ]
    for point in curve:
        x, y = find_x(point.tags), find_y(point.recall, floor)
        parts += [
            dot(point, floor, 3, hollow=True),
            text(x + 4, y + 16, f"{point.odds:g}", kind="quiet", size=10),
        ]
    for point in levels:
        x, high, low = find_x(point.tags), find_y(point.high, floor), find_y(point.low, floor)
        parts += [
            rectangle(x - 1, high, 2, low - high, kind="band"),
            dot(point, floor, 6, hollow=False),
            text(
                x - 8, find_y(point.recall, floor) - 9, point.level, anchor="end", font_weight=650
            ),
        ]
    described = "; ".join(
        f"{point.level} {point.recall:.3f} found with {point.tags:.1f} tags" for point in levels
    )
    height = TOP + DEPTH + 84
    parts.append(
        text(
            0,
            height - 12,
            "Small dots: the default policy with these model_odds. Bars: 95 % intervals.",
            kind="quiet",
            size=12,
        )
    )
    title = "Identifiers found by tags per 1,000 harmless words"
    drawing = Drawing(WIDTH, height, title, f"By level: {described}.", parts)
    return (drawing.markup("levels", alone=True) + "\n").encode()


def draw_axes(floor: float) -> Iterator[str]:
    """Yield the lines of the plane and their labels."""
    steps = round((1 - floor) * 20)
    for step in range(steps + 1):
        share = floor + step / 20
        y = find_y(share, floor)
        yield rectangle(LEFT, y - 0.5, PLANE, 1, kind="line")
        yield text(LEFT - 8, y + 4, f"{share:.2f}", kind="quiet", anchor="end", size=11)
    for tick in TICKS:
        x = find_x(tick)
        yield rectangle(x - 0.5, TOP, 1, DEPTH + 4, kind="line")
        yield text(x, TOP + DEPTH + 18, f"{tick}", kind="quiet", anchor="middle", size=11)
    yield text(
        LEFT + PLANE / 2,
        TOP + DEPTH + 40,
        "tags per 1,000 words of texts without identifiers (logarithmic)",
        anchor="middle",
        size=12,
    )


def draw_line(curve: Sequence[Point], floor: float) -> str:
    """Return the line through the points of the curve."""
    corners = " ".join(
        f"{find_x(point.tags):.2f},{find_y(point.recall, floor):.2f}" for point in curve
    )
    return element("polyline", points=corners, fill="none", stroke=ACCENT, stroke_width=1.5)


def dot(point: Point, floor: float, radius: float, *, hollow: bool) -> str:
    """Return the dot of a point."""
    return element(
        "circle",
        cx=find_x(point.tags),
        cy=find_y(point.recall, floor),
        r=radius,
        fill=PAPER if hollow else ACCENT,
        stroke=ACCENT,
        stroke_width=1.5,
    )


def find_x(tags: float) -> float:
    """Return the horizontal position of a rate of tags."""
    first, last = math.log(TICKS[0]), math.log(TICKS[-1])
    share = (math.log(max(tags, TICKS[0])) - first) / (last - first)
    return LEFT + PLANE * min(1, share)


def find_y(recall: float, floor: float) -> float:
    """Return the vertical position of a recall."""
    return TOP + DEPTH * (1 - recall) / (1 - floor)


def main() -> None:
    """Measure if asked to, and write the picture and the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true", help="measure again")
    if parser.parse_args().measure:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        write_points(measure())
    points = read_points()
    assert {point.level for point in points if point.level} == set(get_args(Level))
    PICTURE.write_bytes(draw(points))
    page = PAGE.read_text("utf-8")
    PAGE.write_text(replace_table(page, write_table(points)), "utf-8")


if __name__ == "__main__":
    main()
