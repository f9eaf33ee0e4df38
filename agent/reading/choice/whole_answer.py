"""Read the option of an answer that may be JSON. Only the part of it that states the answer is read as text."""

from functools import lru_cache

from agent.reading.choice import reader
from agent.reading.choice.rules import JSON_FIELD
from agent.reading.json_answers import read_parts, select_parts
from agent.reading.reading import Reading


@lru_cache(16)  # the four match metrics read the same answer
def extract_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option that the answer names, or None if it names none or several.

    Args:
        answer: the response's text, without reasoning.
        options: the options' texts; option i has the letter "ABC..."[i].
    """
    return read_parts(answer, lambda text: reader.extract_option(text, options))


def read_option(answer: str, options: tuple[str, ...]) -> Reading | None:
    """Return the option's letter with the span of the answer that names it and the rule that read it."""
    option = extract_option(answer, options)
    if option is None:
        return None
    parts = select_parts(answer)
    if parts is None:
        return reader.read_option(answer, options)
    for part in parts:
        reading = reader.read_option(part.text, options)
        if reading is not None:
            start, end = part.locate(reading.start, reading.end)
            is_around_json = part.end - part.start == len(answer)
            rule = reading.rule if is_around_json else JSON_FIELD.name
            return Reading(reading.value, start, end, rule)
    return None
