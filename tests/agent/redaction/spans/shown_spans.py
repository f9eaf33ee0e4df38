"""Findings of a text, united and shown as what they cover."""

from agent.redaction.spans.merge import merge_spans
from agent.redaction.spans.span import Span


def spans(text: str, *found: tuple[str, str]) -> list[tuple[str, str]]:
    places = [
        Span(text.index(value), text.index(value) + len(value), entity) for value, entity in found
    ]
    return [(text[span.start : span.end], span.entity) for span in merge_spans(places, text)]
