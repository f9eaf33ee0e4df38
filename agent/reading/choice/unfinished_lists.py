"""Find an answer that breaks off in a list of letters: its last letter begins the next item, and chooses nothing.

Pure.
"""

import re
from typing import Final

from agent.reading.choice.claims import OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer

# "A. Glycopyrrolate", the line of an item.
_ITEM: Final = re.compile(r"\s?[(\[]?([A-J])[)\].:]{1,2}\s\S")
# "C", "C." or "(C", the line of an item whose text is missing.
_LETTER_ALONE: Final = re.compile(r"\s?[(\[]?([A-J])[)\].:]{0,2}\s?")
# "the letter of the best option (A, B", a bracket that is never closed.
_OPEN_BRACKET: Final = re.compile(
    r"[(\[]\s?[A-J](?:\s?[,/]\s?(?:or\s)?[A-J])+\s?[,/]?(?:\s?or)?\s?\Z"
)


def breaks_off_in_list(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the letter of a claim is the last one of a list that breaks off.

    "A. Yes / B. No / C" goes on with the text of C. "A. Yes / B. No / A" and "A. Yes / B. No / Answer: C" do not.
    """
    bracket = _OPEN_BRACKET.search(answer.plain)
    if bracket is not None:
        return claim.start >= bracket.start()
    lines = [line for line in answer.plain.split("\n") if line.strip()]
    if len(lines) < 3:
        return False
    letter = _LETTER_ALONE.fullmatch(lines[-1])
    items = [_ITEM.match(line) for line in lines[-3:-1]]
    if letter is None or None in items:
        return False
    places = [ord(item[1]) for item in items if item is not None]
    last = ord(letter[1])
    return places == [last - 2, last - 1] and claim.start >= len(answer.plain.rstrip()) - len(
        lines[-1].strip()
    )
