"""Read the rubric of a jury: the criteria of a verdict, the fields of each criterion, and the scale of the scores."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent.metrics import MetricUse, Scale

SCORE = "score"
EXPLANATION = "explanation"

# A prompt may also mention the tag in a sentence, so a block is a tag followed by a map, as in upstream.
_BLOCK = re.compile(r"<rubric_criteria>\s*(\{.*?\})\s*</rubric_criteria>", re.DOTALL)
_FORM = 'expected <rubric_criteria>{"accuracy": ["score", "explanation"]}</rubric_criteria>, or a map of maps'


@dataclass(frozen=True, slots=True)
class Rubric:
    """The parts that every verdict of a jury must have.

    Attributes:
        criteria: names, in order; at least one.
        fields: criterion -> fields next to `score`; may be empty.
        scale: the scale of the scores, including both ends.
        example: the example verdict in the jury's own prompt, which a judge may copy instead of judging.
    """

    criteria: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    scale: Scale
    example: Mapping[str, object] | None = None

    @property
    def mark(self) -> str:
        """The key, next to the criteria, under which a judge repeats the marker of its request."""
        name = "mark"
        while name in self.criteria:
            name += "_"
        return name


def read_rubric(use: MetricUse) -> Rubric:
    """Return the rubric of a jury, read from its own prompt or from its criteria.

    Raises:
        ValueError: the block of criteria in the prompt is missing or malformed, or the jury has no criteria.
    """
    if use.prompt:
        block = _read_block(use.prompt)
        fields = use.fields or _read_fields(block)
        return Rubric(criteria=tuple(fields), fields=fields, scale=use.scale, example=block)
    if not use.criteria:
        raise ValueError("expected at least one criterion")
    fields = {criterion: use.fields.get(criterion, (EXPLANATION,)) for criterion in use.criteria}
    return Rubric(criteria=tuple(fields), fields=fields, scale=use.scale)


def read_rubric_block(prompt: str) -> dict[str, tuple[str, ...]]:
    """Return criterion -> fields besides `score`, as listed in the `<rubric_criteria>` block of a judge's prompt.

    Raises:
        ValueError: the block is missing or malformed; the message names the mistake.
    """
    return _read_fields(_read_block(prompt))


def _read_block(prompt: str) -> dict[str, object]:
    match = _BLOCK.search(prompt)
    if match is None:
        raise ValueError(f"has no block of criteria; {_FORM}")
    try:
        block = json.loads(match[1], object_pairs_hook=_refuse_duplicate_keys)
    except json.JSONDecodeError as error:
        line = prompt.count("\n", 0, match.start(1) + error.pos) + 1
        raise ValueError(f"line {line}: the block of criteria is not JSON; {_FORM}") from None
    except RecursionError:
        raise ValueError(f"the block of criteria is nested too deeply; {_FORM}") from None
    if not block:
        raise ValueError(f"the block of criteria is empty; {_FORM}")
    return dict(block)


def _refuse_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the block of criteria contains {name!r} twice")
    return dict(pairs)


def _read_fields(block: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {}
    for criterion, value in block.items():
        if not criterion.strip():
            raise ValueError("the block of criteria contains a criterion without a name")
        names = list(value) if isinstance(value, list | dict) else []
        if not names or not all(_is_name(name) for name in names):
            raise ValueError(f"criterion {criterion!r}: expected a list or a map of its fields")
        if SCORE not in names:
            raise ValueError(f"criterion {criterion!r}: expected `score` among its fields")
        if len(set(names)) < len(names):
            raise ValueError(f"criterion {criterion!r}: a field is listed twice")
        names.remove(SCORE)
        fields[criterion] = tuple(names)
    return fields


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
