"""Choose answers for clinicians: an equal share from each model, and as many patients as possible. Pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random

# Without vowels and digits, a code can be neither a word nor a date or number that a spreadsheet would reformat.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_CODE_LENGTH = 6


@dataclass(frozen=True, slots=True)
class SampleCandidate:
    """One stored answer that a jury can grade."""

    run_id: str
    position: int
    unit: bytes
    instance: bytes


def choose_answers(
    candidates: Mapping[str, Sequence[SampleCandidate]], items: int, random: Random
) -> list[SampleCandidate]:
    """Return up to `items` answers; the models' shares differ by at most one if each has enough answers.

    A unit (a patient or document) is used again only if the model has no answer for a new unit. The same holds for
    instances. A sample with more units is more informative.

    Args:
        candidates: answers by model.
        items: size of the sample.
        random: source of randomness; the same state gives the same sample.
    """
    queues = {
        model: random.sample(answers, len(answers))
        for model, answers in sorted(candidates.items())
        if answers
    }
    turns = random.sample(list(queues), len(queues))
    chosen: list[SampleCandidate] = []
    units: set[bytes] = set()
    instances: set[bytes] = set()
    while turns and len(chosen) < items:
        model = turns.pop(0)
        queue = queues[model]
        candidate = _find_new(queue, units, instances)
        queue.remove(candidate)
        chosen.append(candidate)
        units.add(candidate.unit)
        instances.add(candidate.instance)
        if queue:
            turns.append(model)
    return chosen


def _find_new(
    queue: Sequence[SampleCandidate], units: Set[bytes], instances: Set[bytes]
) -> SampleCandidate:
    """Return the first answer for a new unit; otherwise the first for a new instance; otherwise the first of all."""
    for candidate in queue:
        if candidate.unit not in units:
            return candidate
    for candidate in queue:
        if candidate.instance not in instances:
            return candidate
    return queue[0]


def make_codes(count: int, random: Random) -> list[str]:
    """Return `count` distinct random codes for items."""
    codes: dict[str, None] = {}
    while len(codes) < count:
        code = "".join(random.choices(_LETTERS, k=_CODE_LENGTH))
        codes[code] = None
    return list(codes)
