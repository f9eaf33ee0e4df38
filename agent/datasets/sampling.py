"""Select the same instances as HELM for `--max-eval-instances`.

HELM seeds numpy's legacy generator with 0 and calls `numpy.random.choice(instances, size=k, replace=False)`, which
returns the first k of a shuffled list of indices. Python's standard library has the same generator, a Mersenne
Twister, but seeds it differently. The functions below reproduce numpy's seeding, so that a run need not import numpy.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_WORDS = 624  # 32-bit words in the generator's state


def sample(instances: Sequence[T], max_eval_instances: int | None, seed: int = 0) -> list[T]:
    """Return up to `max_eval_instances` instances, chosen and ordered as HELM does.

    If there are no more instances than that, or the limit is None, all are returned in dataset order.
    """
    if max_eval_instances is None or len(instances) <= max_eval_instances:
        return list(instances)
    return [instances[i] for i in _permutation(len(instances), seed)[:max_eval_instances]]


def _permutation(n: int, seed: int) -> list[int]:
    """Return `numpy.random.RandomState(seed).permutation(n)`."""
    generator = _mersenne_twister(seed)
    indices = list(range(n))
    for i in range(n - 1, 0, -1):
        # Draw a number from 0 to i: take as many low bits of a word as i has, and repeat if the number exceeds i.
        mask = (1 << i.bit_length()) - 1
        while (j := generator.getrandbits(32) & mask) > i:
            pass
        indices[i], indices[j] = indices[j], indices[i]
    return indices


def _mersenne_twister(seed: int) -> random.Random:
    """Return a generator seeded by Matsumoto and Nishimura's init_genrand (2002), as in numpy for integer seeds."""
    words = [seed & 0xFFFFFFFF]
    for i in range(1, _WORDS):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    generator = random.Random()  # noqa: S311
    generator.setstate((3, (*words, _WORDS), None))
    return generator
