"""Which instances `--max-eval-instances` takes: the same as HELM.

HELM seeds numpy's legacy generator with 0 and calls `numpy.random.choice(instances, size=k, replace=False)`,
which is the first k of a shuffled list of indices. The generator is the Mersenne Twister of the standard library
under another seeding, so the few lines below give the same indices without importing numpy for every run.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_WORDS = 624  # the generator's state


def sample(instances: Sequence[T], max_eval_instances: int | None, seed: int = 0) -> list[T]:
    """Take at most `max_eval_instances`, in HELM's choice and order.

    All of them, in dataset order, when there are no more than that (or no limit is given).
    """
    if max_eval_instances is None or len(instances) <= max_eval_instances:
        return list(instances)
    return [instances[i] for i in _permutation(len(instances), seed)[:max_eval_instances]]


def _permutation(n: int, seed: int) -> list[int]:
    """Return `numpy.random.RandomState(seed).permutation(n)`."""
    generator = _mersenne_twister(seed)
    indices = list(range(n))
    for i in range(n - 1, 0, -1):
        # A number from 0 to i: as many low bits of a word as i has, again until it is not above i.
        mask = (1 << i.bit_length()) - 1
        while (j := generator.getrandbits(32) & mask) > i:
            pass
        indices[i], indices[j] = indices[j], indices[i]
    return indices


def _mersenne_twister(seed: int) -> random.Random:
    """Return a generator seeded by Matsumoto and Nishimura's init_genrand (2002), as numpy seeds with a number."""
    words = [seed & 0xFFFFFFFF]
    for i in range(1, _WORDS):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    generator = random.Random()  # noqa: S311
    generator.setstate((3, (*words, _WORDS), None))
    return generator
