"""Leave answers unscored that the server cut off before they stated a result. Pure."""

from dataclasses import replace

from agent.metrics import get_value_kind, read_answer
from agent.reading.parsers import extract_part
from agent.scoring.measures import Measure, Rules
from agent.vocabulary import Failure, Instance, Reason, Response, Unscored


def breaks_off(
    rules: Rules, measure: Measure, instance: Instance, result: Response | Failure
) -> bool:
    """Return whether the server is known to have cut off an answer before it stated what a measure reads.

    HELM's rules score every text that was written. An answer whose end is unknown is treated as complete.
    """
    if isinstance(result, Failure) or result.finish_reason != "length" or measure.rules == "helm":
        return False
    from agent.reading.cut_off import (  # compiling its patterns takes time
        KINDS_AT_RISK,
        is_stated_before_cut,
    )

    kind = get_value_kind(measure.use, instance)
    if kind not in KINDS_AT_RISK:
        return False
    part = extract_part(rules.parser, result.text)
    if isinstance(part, Unscored):
        return True
    reading = read_answer(measure.use, part.text, instance)
    if isinstance(reading, Unscored):
        return reading.reason in (Reason.EMPTY, Reason.UNPARSED)
    start, end = part.locate(reading.start, reading.end)
    located = replace(reading, start=start, end=end)
    return not is_stated_before_cut(located, kind, result.text, part.start)


def depends_on_reading(value: object) -> bool:
    """Return whether a score or reading, or the reason for having none, depends on what was read from the answer."""
    return not isinstance(value, Unscored) or value.reason == Reason.UNPARSED
