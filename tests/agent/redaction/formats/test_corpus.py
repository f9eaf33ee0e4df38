"""What redaction leaves, breaks and takes wrongly in records of fourteen layouts (tests/data/deid/formats.jsonl)."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.redaction.engine import Engine
from agent.redaction.spans.span import Span

CORPUS = Path(__file__).parents[3] / "data/deid/formats.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
LAYOUTS = tuple(dict.fromkeys(row["layout"] for row in ROWS))
WORD = re.compile(r"[^\W_]+")

# Identifiers of which a letter or digit may be left, in ten records; elsewhere none.
MOST_LEFT = {"json_nested": 1, "fhir_compact": 1, "hl7_oru": 1, "csv_comma": 1, "html_table": 1}
# Words of medicine that may be taken, in ten records; a laboratory value never is. A record with a comment in Spanish
# is searched in both languages.
MOST_TAKEN = {
    "hl7_oru": 1,
    "html_table": 2,
    "json_nested": 1,
    "xml": 1,
    "csv_comma": 1,
    "json_in_json_or_lines": 2,
}


def covered(text: str, spans: Sequence[Span]) -> bytearray:
    marked = bytearray(len(text))
    for span in spans:
        marked[span.start : span.end] = b"\1" * (span.end - span.start)
    return marked


def parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        return True
    try:
        ET.fromstring(text)
    except ET.ParseError:
        return False
    return True


def is_left(row: dict[str, Any], start: int, end: int, taken: bytearray) -> bool:
    return any(
        not all(taken[word.start() : word.end()]) for word in WORD.finditer(row["text"], start, end)
    )


def is_taken(row: dict[str, Any], kept: str, taken: bytearray) -> bool:
    identifiers = bytearray(len(row["text"]))
    for start, end, _ in row["spans"]:
        identifiers[start:end] = b"\1" * (end - start)
    return any(
        any(taken[match.start() : match.end()])
        for match in re.finditer(rf"(?<![^\W_]){re.escape(kept)}(?![^\W_])", row["text"])
        if not any(identifiers[match.start() : match.end()])
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_records_lose_their_identifiers_and_nothing_else(layout: str, engine: Engine):
    counts: Counter[str] = Counter()
    for row in ROWS:
        if row["layout"] != layout:
            continue
        text = row["text"]
        ((redacted, spans),) = engine.redact_and_find([text])
        assert isinstance(spans, tuple)
        taken = covered(text, spans)
        counts["left"] += sum(is_left(row, start, end, taken) for start, end, _ in row["spans"])
        counts["broken"] += parses(text) and not parses(redacted)
        for kept in row["keep"]:
            counts["values" if re.search(r"\d", kept) else "words"] += is_taken(row, kept, taken)
    assert counts["left"] <= MOST_LEFT.get(layout, 0)
    assert counts["words"] <= MOST_TAKEN.get(layout, 0)
    assert (counts["broken"], counts["values"]) == (0, 0)
