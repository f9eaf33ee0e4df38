"""Which answers clinicians are shown: an even share of every model's, and of as many patients as can be. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

# No vowels and no digits: a code is no word, no date, no number that a spreadsheet would write another way.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_CODE_LENGTH = 6


@dataclass(frozen=True, slots=True)
class SampleCandidate:
    """One stored answer that a jury can grade."""

    run_id: str
    position: int
    unit: bytes
    instance: bytes


def choose(candidates: Mapping[str, Sequence[SampleCandidate]], items: int, random: Random) -> list[SampleCandidate]:
    """Return up to `items` answers, each model's share the same to one, where every model has that many.

    A unit (a patient, a document) comes again only when the model has no answer for another, and so does an instance:
    the more units, the more a sample says.

    Args:
        candidates: each model's answers.
        items: wanted in all.
        random: makes every choice; the same state gives the same sample.
    """
    left = {model: random.sample(each, len(each)) for model, each in sorted(candidates.items()) if each}
    turn = random.sample(list(left), len(left))
    chosen: list[SampleCandidate] = []
    units: set[bytes] = set()
    instances: set[bytes] = set()
    while turn and len(chosen) < items:
        model = turn.pop(0)
        queue = left[model]
        place = next((at for at, one in enumerate(queue) if one.unit not in units), None)
        if place is None:
            place = next((at for at, one in enumerate(queue) if one.instance not in instances), 0)
        one = queue.pop(place)
        chosen.append(one)
        units.add(one.unit)
        instances.add(one.instance)
        if queue:
            turn.append(model)
    return chosen


def codes(count: int, random: Random) -> list[str]:
    """Return `count` different names for items, which say nothing of what they name."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(random.choices(_LETTERS, k=_CODE_LENGTH))] = None
    return list(found)
