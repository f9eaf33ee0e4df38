"""A run's instances: walked as often as they are needed, and held in memory only where they are few.

A dataset of 100,000 long notes is read again for each walk (its files' digests are checked each time), so that memory
does not grow with it. Few instances are held: reading them again would cost more than it saves.
"""

from collections.abc import Callable, Iterable, Iterator

from agent.datasets.sampling import sample
from agent.vocabulary import Instance

HELD_CHARACTERS = 16_000_000
_OVERHEAD = 1_000  # of an instance beside its texts, in characters

Read = Callable[[], Iterable[Instance]]


class Instances:
    """The instances of one run, in order; can be walked any number of times.

    Attributes:
        available: how many the dataset has, before sampling.
        numbered: whether all units are rising numbers, as those are that a loader gives to rows without a patient.
    """

    def __init__(self, read: Read, limit: int | None = None, seed: int = 0) -> None:
        """Walk the dataset once, which finds whatever is wrong with it.

        Args:
            read: starts a walk over the whole dataset.
            limit: the most instances to take, by HELM's choice.
            seed: another seed, another choice.
        """
        self._read = read
        held: list[Instance] | None = []
        self.available, size = 0, 0
        self.numbered, last = True, -1
        for instance in read():
            self.available += 1
            number = _row_number(instance.unit) if self.numbered else None
            self.numbered, last = number is not None and number > last, last if number is None else number
            if held is not None:
                held.append(instance)
                size += _OVERHEAD + sum(len(message.content) for message in instance.messages)
                size += sum(map(len, instance.extra.values())) + sum(len(one.text) for one in instance.references)
                if size > HELD_CHARACTERS:
                    held = None
        if limit is not None and limit < self.available:
            held = sample(held, limit, seed) if held is not None else _picked(read(), self.available, limit, seed)
        self._held = held

    def __len__(self) -> int:
        return self.available if self._held is None else len(self._held)

    def __iter__(self) -> Iterator[Instance]:
        return iter(self._read() if self._held is None else self._held)


def _row_number(unit: str) -> int | None:
    number = unit.rpartition("/")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


def _picked(walk: Iterable[Instance], available: int, limit: int, seed: int) -> list[Instance]:
    place = {position: order for order, position in enumerate(sample(range(available), limit, seed))}
    found = [(place[position], instance) for position, instance in enumerate(walk) if position in place]
    return [instance for _, instance in sorted(found, key=lambda pair: pair[0])]
