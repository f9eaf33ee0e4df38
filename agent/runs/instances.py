"""Iterate over a run's instances any number of times, keeping small datasets in memory.

A large dataset, such as 100,000 long notes, is read again for each iteration, and the digests of its files are checked
each time. Memory use therefore does not grow with the dataset. A small dataset stays in memory, because reading it
again would take time.
"""

from collections.abc import Callable, Iterable, Iterator

from agent.datasets.sampling import sample
from agent.vocabulary import Instance

HELD_CHARACTERS = 16_000_000
_OVERHEAD = 1_000  # memory per instance besides its texts, in characters

Read = Callable[[], Iterable[Instance]]


class Instances:
    """The instances of one run, in order. Can be iterated any number of times.

    Attributes:
        available: number of instances in the dataset, before sampling.
        numbered: whether all units are increasing numbers, which loaders assign to rows without a patient.
    """

    def __init__(self, read: Read, limit: int | None = None, seed: int = 0) -> None:
        """Iterate over the dataset once, which validates every row.

        Args:
            read: starts an iteration over the whole dataset.
            limit: maximum number of instances, sampled as HELM does; None for all.
            seed: seed of the sample.
        """
        self._read = read
        self.available = 0
        self.numbered = True
        held: list[Instance] | None = []
        characters = 0
        last_number = -1
        for instance in read():
            self.available += 1
            if self.numbered:
                number = _read_row_number(instance.unit)
                self.numbered = number is not None and number > last_number
                last_number = last_number if number is None else number
            if held is not None:
                held.append(instance)
                characters += _measure_instance(instance)
                if characters > HELD_CHARACTERS:
                    held = None
        if limit is not None and limit < self.available:
            held = self._sample(held, limit, seed)
        self._held = held

    def _sample(self, held: list[Instance] | None, limit: int, seed: int) -> list[Instance]:
        if held is not None:
            return sample(held, limit, seed)
        return _read_sampled(self._read(), self.available, limit, seed)

    def __len__(self) -> int:
        return self.available if self._held is None else len(self._held)

    def __iter__(self) -> Iterator[Instance]:
        return iter(self._read() if self._held is None else self._held)


def _measure_instance(instance: Instance) -> int:
    """Return the approximate memory use of an instance, in characters."""
    messages = sum(len(message.content) for message in instance.messages)
    extra = sum(len(text) for text in instance.extra.values())
    references = sum(len(reference.text) for reference in instance.references)
    return _OVERHEAD + messages + extra + references


def _read_row_number(unit: str) -> int | None:
    number = unit.rpartition("/")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


def _read_sampled(
    walk: Iterable[Instance], available: int, limit: int, seed: int
) -> list[Instance]:
    """Return the sampled instances in the order of the sample, without keeping the others in memory."""
    sampled_positions = sample(range(available), limit, seed)
    wanted_positions = frozenset(sampled_positions)
    instances = {}
    for position, instance in enumerate(walk):
        if position in wanted_positions:
            instances[position] = instance
    return [instances[position] for position in sampled_positions]
