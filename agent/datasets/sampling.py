"""Which instances `--max-eval-instances` takes: the same as HELM."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def sample(instances: Sequence[T], max_eval_instances: int | None, seed: int = 0) -> list[T]:
    """Take at most `max_eval_instances`, in HELM's choice and order.

    All of them, in dataset order, when there are no more than that (or no limit is given).
    """
    raise NotImplementedError
