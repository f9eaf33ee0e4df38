"""The subgroups of a run's instances, in one sealed record per run, so that summaries decrypt no patient's record."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_NONE = -1  # stands for a missing value


@dataclass(slots=True)
class _Attribute:
    """One attribute, with values numbered in order of first occurrence and a value number for each instance."""

    numbers_by_value: dict[str, int] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)

    def fill_up(self, instances: int) -> None:
        """Add instances without a value until the attribute covers this number of instances."""
        self.numbers += [_NONE] * (instances - len(self.numbers))

    def add(self, value: str) -> None:
        self.numbers.append(self.numbers_by_value.setdefault(value, len(self.numbers_by_value)))


class SubgroupLabels:
    """The attributes of a run's instances, collected in the order of their positions."""

    def __init__(self) -> None:
        self._count = 0
        self._attributes: dict[str, _Attribute] = {}

    def add(self, subgroups: Mapping[str, str]) -> None:
        """Add the attributes of the next instance."""
        for name, value in subgroups.items():
            attribute = self._attributes.setdefault(name, _Attribute())
            attribute.fill_up(self._count)
            attribute.add(value)
        self._count += 1

    def encode(self) -> bytes:
        """Return all attributes as bytes."""
        content: dict[str, list[object]] = {}
        for name, attribute in self._attributes.items():
            attribute.fill_up(self._count)
            content[name] = [list(attribute.numbers_by_value), attribute.numbers]
        return json.dumps(content, separators=(",", ":")).encode()

    def by_position(self) -> dict[str, Sequence[str | None]]:
        """Return each attribute's values for all instances, None for an instance without a value."""
        return decode_subgroups(self.encode())


def decode_subgroups(data: bytes) -> dict[str, Sequence[str | None]]:
    """Decode labels encoded by `SubgroupLabels.encode`, by attribute and position."""
    content: dict[str, tuple[list[str], list[int]]] = json.loads(data)
    labels: dict[str, Sequence[str | None]] = {}
    for name, (values, numbers) in content.items():
        labels[name] = [None if number == _NONE else values[number] for number in numbers]
    return labels
