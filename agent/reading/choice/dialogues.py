"""Find the last question and its reply in an answer that is written as a dialogue; earlier replies are no answers."""

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

_MAX_TURNS = 200
_MIN_TURNS = 2  # of each speaker
_FAREWELL = (
    2  # turns behind the last question; the first is the reply, and the second says "thank you"
)
_TURN = re.compile(
    r"^(?P<label>(?P<speaker>[A-Z][a-z]{1,14}|Q|A):\s)(?P<words>[^\n]*)", re.MULTILINE
)


class Exchange(NamedTuple):
    """The last question of a dialogue and its reply.

    Attributes:
        start: the position of the question.
        text: the dialogue up to the end of the reply, with spaces in place of the speakers.
    """

    start: int
    text: str


def find_last_exchange(text: str) -> Exchange | None:
    """Return the last question of a dialogue of two speakers with its reply; None if the text is no dialogue."""
    if ":" not in text or "?" not in text:
        return None
    turns = list(islice(_TURN.finditer(text), _MAX_TURNS))
    speakers = Counter(turn["speaker"] for turn in turns)
    if len(speakers) != 2 or min(speakers.values()) < _MIN_TURNS:
        return None
    questions = [
        number for number, turn in enumerate(turns) if turn["words"].rstrip().endswith("?")
    ]
    if len(questions) < _MIN_TURNS:
        return None
    last = questions[-1]
    end = len(text)
    if last + _FAREWELL == len(turns) - 1 and not text[turns[-1].end() :].strip():
        end = turns[-1].start() - 1
    without_speakers = _TURN.sub(lambda turn: " " * len(turn["label"]) + turn["words"], text[:end])
    return Exchange(turns[last].start(), without_speakers)
