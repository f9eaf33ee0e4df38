"""Find the part of an answer that repeats the prompt, as base models do before they answer. Pure."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")
_LEAST_WORDS = 6  # fewer words may be the beginning of an answer's own sentence


def find_echo_end(answer: str, prompts: Iterable[str]) -> int:
    """Return where the repetition of a prompt ends with which the answer begins; 0 if it begins with none.

    "Read the abstract, then answer the question. Choose A" names no option if the prompt begins with these words.

    Args:
        answer: the response's text, without reasoning.
        prompts: the texts of the prompt's messages.
    """
    start = len(answer) - len(answer.lstrip())
    ends = [start + _count_common(answer[start:], prompt.lstrip()) for prompt in prompts]
    end = max(ends, default=0)
    while 0 < end < len(answer) and (answer[end - 1] + answer[end]).isalnum():
        end -= 1  # "Choose Aspirin" does not repeat "Choose A"
    return end if len(_WORD.findall(answer, start, end)) >= _LEAST_WORDS else 0


def _count_common(text: str, prompt: str) -> int:
    """Return the number of characters with which both texts begin."""
    for position, (letter, other) in enumerate(zip(text, prompt, strict=False)):
        if letter != other:
            return position
    return min(len(text), len(prompt))
