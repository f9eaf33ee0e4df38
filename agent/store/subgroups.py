"""The subgroups of a run's instances: one sealed record a run, so that a summary opens one and no patient's."""

import json
from collections.abc import Mapping, Sequence

_NONE = -1


class SubgroupLabels:
    """Collects the attributes of instances, in the order of their positions."""

    def __init__(self) -> None:
        self._count = 0
        self._attributes: dict[str, tuple[dict[str, int], list[int]]] = {}  # name -> (value -> number, by position)

    def add(self, subgroups: Mapping[str, str]) -> None:
        """Note the next instance's."""
        for name, value in subgroups.items():
            numbers, of = self._attributes.setdefault(name, ({}, [_NONE] * self._count))
            of.append(numbers.setdefault(value, len(numbers)))
        self._count += 1
        for _, of in self._attributes.values():
            if len(of) < self._count:
                of.append(_NONE)

    def encode(self) -> bytes:
        """Return them as bytes."""
        found = {name: [list(numbers), of] for name, (numbers, of) in self._attributes.items()}
        return json.dumps(found, separators=(",", ":")).encode()

    def by_position(self) -> dict[str, Sequence[str | None]]:
        """Return each attribute's value of every instance, None where it has none."""
        return decode_subgroups(self.encode())


def decode_subgroups(data: bytes) -> dict[str, Sequence[str | None]]:
    """Return what `SubgroupLabels.encode` wrote, by attribute and position."""
    found: dict[str, tuple[list[str], list[int]]] = json.loads(data)
    return {
        name: [None if number == _NONE else values[number] for number in of] for name, (values, of) in found.items()
    }
