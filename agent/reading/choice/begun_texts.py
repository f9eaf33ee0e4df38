"""Find an answer that pairs a letter with the beginning of another option's text: "C. Thiolysis". Pure."""

import re

from agent.reading.choice.claims import OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.words import plain_words

# A letter and its text are the whole answer: "B. When the donor has", "(C) Thiolysis".
_LETTER_AND_TEXT = re.compile(r"\s?[(\[]?([A-Za-z])[)\].:]{1,2}\s(?P<text>[^\n]{4,2000})\s?")


def contradicts_begun_text(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text behind the letter begins another option's text, and not that of its own option.

    A short answer is often cut off inside the option's text.
    """
    match = _LETTER_AND_TEXT.fullmatch(answer.plain)
    if match is None or answer.options.get_letter_option(match[1]) != claim.option:
        return False
    words = plain_words(match["text"])
    if not words:
        return False
    beginning = [
        index for index, text in enumerate(answer.options.plain_texts) if text.startswith(words)
    ]
    return bool(beginning) and claim.option not in beginning
