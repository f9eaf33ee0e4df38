"""Read the claims of lists that comment on several options: "A) wrong B) wrong C) correct D) wrong"."""

import re
from collections.abc import Iterator

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.lists import Item, Listing
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.rules import COMMENTED_OPTIONS

_ARROW = re.compile(r"<[-=]|[←⟵]")
_MAX_COMMENT = 300  # characters of a comment that are read


def read_listings(answer: MarkedAnswer, listings: list[Listing]) -> Iterator[OptionClaim]:
    """Read lists in which one option is called right, or all but one are called wrong."""
    for listing in listings:
        right: list[Item] = []
        wrong: list[Item] = []
        pointed: list[Item] = []
        for item in listing.items:
            comment = answer.lower[item.text_start : item.end][:_MAX_COMMENT]
            mark = answer.lower[item.start : item.text_start]
            if cues.WRONG.search(comment) or "✗" in mark:
                wrong.append(item)
            elif cues.CALLED_RIGHT.search(comment) or "✓" in mark:
                right.append(item)
            elif cues.POINTED_AT.search(comment):
                pointed.append(item)
        # Two arrows point at no single item: "A. Aspirin <-- this", "C. Heparin <-- or this".
        arrows = sum(
            _ARROW.search(answer.lower, item.start, item.end) is not None for item in listing.items
        )
        if pointed and arrows == 1:
            right += pointed
        options = {item.option for item in listing.items}
        is_complete = len(options) == answer.options.count
        if not right and is_complete and len(wrong) == len(listing.items) - 1 >= 2:
            right = [item for item in listing.items if item not in wrong]
        for item in right:
            yield OptionClaim(
                item.option, item.start, item.end, ClaimStrength.CALLED_CORRECT, COMMENTED_OPTIONS
            )
