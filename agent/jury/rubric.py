"""What a verdict must hold: criteria, the fields of each, and the scale of their scores."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent.metrics import MetricUse, Scale

SCORE = "score"
EXPLANATION = "explanation"

# The tag may also be spoken of; the block is where a map follows it. As upstream finds it.
_BLOCK = re.compile(r"<rubric_criteria>\s*(\{.*?\})\s*</rubric_criteria>", re.DOTALL)
_FORM = 'expected <rubric_criteria>{"accuracy": ["score", "explanation"]}</rubric_criteria>, or a map of maps'


@dataclass(frozen=True, slots=True)
class Rubric:
    """What every verdict of a jury holds.

    Attributes:
        criteria: names, in order; at least one.
        fields: criterion -> what stands beside `score`; a criterion may have none.
        scale: of the scores, both ends included.
        example: the verdict that the jury's own prompt shows as an example, which a judge may copy instead of judging.
    """

    criteria: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    scale: Scale
    example: Mapping[str, object] | None = None

    @property
    def mark(self) -> str:
        """The key beside the criteria under which a judge repeats the marker of its request."""
        name = "mark"
        while name in self.criteria:
            name += "_"
        return name


def rubric_of(use: MetricUse) -> Rubric:
    """Return what verdicts of the jury of `use` must hold.

    Raises:
        ValueError: the jury's own prompt says it in no readable way.
    """
    if use.prompt:
        block = _block(use.prompt)
        fields = use.fields or _fields(block)
        return Rubric(tuple(fields), fields, use.scale, block)
    fields = {criterion: use.fields.get(criterion, (EXPLANATION,)) for criterion in use.criteria}
    if not fields:
        raise ValueError("expected at least one criterion")
    return Rubric(tuple(fields), fields, use.scale)


def read_rubric_block(prompt: str) -> dict[str, tuple[str, ...]]:
    """Return criterion -> fields besides `score`, as the `<rubric_criteria>` block of a judge's prompt lists them.

    Raises:
        ValueError: there is no such block, or it is wrong; says what.
    """
    return _fields(_block(prompt))


def _block(prompt: str) -> dict[str, object]:
    found = _BLOCK.search(prompt)
    if found is None:
        raise ValueError(f"holds no block of criteria; {_FORM}")
    try:
        block = json.loads(found[1], object_pairs_hook=_once)
    except json.JSONDecodeError as why:
        line = prompt.count("\n", 0, found.start(1) + why.pos) + 1
        raise ValueError(f"line {line}: the block of criteria is not JSON; {_FORM}") from None
    except RecursionError:
        raise ValueError(f"the block of criteria is nested too deep; {_FORM}") from None
    if not block:
        raise ValueError(f"the block of criteria is empty; {_FORM}")
    return dict(block)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the block of criteria gives {name!r} twice")
    return dict(pairs)


def _fields(block: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {}
    for criterion, value in block.items():
        if not criterion.strip():
            raise ValueError("the block of criteria holds a criterion without a name")
        listed = list(value) if isinstance(value, list | dict) else []
        if not listed or not all(isinstance(name, str) and name.strip() for name in listed):
            raise ValueError(f"criterion {criterion!r}: expected a list or a map of its fields")
        if SCORE not in listed:
            raise ValueError(f"criterion {criterion!r}: expected `score` among its fields")
        if len(set(listed)) < len(listed):
            raise ValueError(f"criterion {criterion!r}: a field is listed twice")
        fields[criterion] = tuple(name for name in listed if name != SCORE)
    return fields
