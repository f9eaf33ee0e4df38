"""Read the option of an answer that may be JSON. Only the part of it that states the answer is read as text."""

import re
from functools import lru_cache

from agent.reading.choice import reader
from agent.reading.choice.rules import COMMENTED_OPTIONS, JSON_FIELD
from agent.reading.json_answers import read_parts, select_parts
from agent.reading.reading import Reading

# "Therefore, the correct answer is none of the above"
_RULES_OUT_ALL = re.compile(
    r"\b(?:answer|option|choice)\s(?:is|would\sbe|must\sbe)\s(?:that\s)?(?:[\"'(]?[A-J][.:)]\s)?"
    r"(?:none\sof\sthe|there\sis\sno\s(?:option|answer|choice))\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"\b(?:none|no\sone|neither|nothing|no\soption)\b", re.IGNORECASE)


@lru_cache(16)  # the four match metrics read the same answer
def extract_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option that the answer names, or None if it names none or several.

    Args:
        answer: the response's text, without reasoning.
        options: the options' texts; option i has the letter "ABC..."[i].
    """
    option = read_parts(answer, lambda text: reader.extract_option(text, options))
    if option is None and "{" in answer:
        claim = reader.read_distribution_claim(answer, options)
        return claim.option if claim else None
    if option is None or not _is_contradicted(answer, options, option):
        return option
    return None


def _is_contradicted(answer: str, options: tuple[str, ...], option: int) -> bool:
    """Return whether the reasoning of a JSON answer concludes that the option of its field is not the answer."""
    if "answer is n" not in answer and "there is no" not in answer and "None of the" not in answer:
        return False
    parts = select_parts(answer)
    if parts is None or len(parts) != 1 or parts[0].end - parts[0].start == len(answer):
        return False
    reasoning = answer[: parts[0].start]
    letter = chr(ord("A") + option)
    is_denied = re.search(rf"\banswer\sis\snot\s(?:option\s)?[\"'(]?{letter}(?=[.)\"'])", reasoning)
    if is_denied:
        return True
    has_summary = any(_SUMMARY.search(text) for text in options)
    return not has_summary and _RULES_OUT_ALL.search(reasoning) is not None


def read_option(answer: str, options: tuple[str, ...]) -> Reading | None:
    """Return the option's letter with the span of the answer that names it and the rule that read it."""
    option = extract_option(answer, options)
    if option is None:
        return None
    parts = select_parts(answer)
    if parts is None:
        return reader.read_option(answer, options)
    if not parts:
        # The probabilities of an object without a key that names the answer.
        return Reading(chr(ord("A") + option), 0, len(answer), COMMENTED_OPTIONS.name)
    for part in parts:
        reading = reader.read_option(part.text, options)
        if reading is not None:
            start, end = part.locate(reading.start, reading.end)
            is_around_json = part.end - part.start == len(answer)
            rule = reading.rule if is_around_json else JSON_FIELD.name
            return Reading(reading.value, start, end, rule)
    return None
