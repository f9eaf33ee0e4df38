"""Draw a random sample of leaves and bound the number of wrong leaves among all of them. Pure.

The sample is drawn without replacement, so the number of wrong leaves in it follows the hypergeometric distribution.
The bound is the exact one-sided limit obtained by inverting the test (L. Katz, "Confidence intervals for the number
showing a certain characteristic in a population when sampling is without replacement", J. Am. Stat. Assoc. 48, 1953,
256-261; J. P. Buonaccorsi, "A note on confidence intervals for proportions in finite populations", Am. Stat. 41, 1987,
215-218). If a sample of k out of very many leaves has no wrong leaf, the bound is close to a share of 3/k, the "rule of
three" (J. A. Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983, 1743-1745):
1 % for k = 300.
"""

import hashlib
from math import comb
from typing import Final

CONFIDENCE_PERCENT: Final = 95


def draw_leaves(size: int, count: int, seed: str) -> list[int]:
    """Return the sorted indexes of `count` random leaves out of `size`, or of all leaves if there are fewer.

    The leaves with the smallest SHA-256 of seed and index are drawn, so the same seed draws the same leaves on every
    machine. A site that learns the seed only after signing the submission cannot have prepared for it.
    """
    ranked = sorted(
        range(size), key=lambda index: hashlib.sha256(f"{seed}\0{index}".encode()).digest()
    )
    return sorted(ranked[:count])


def bound_wrong_leaves(size: int, drawn: int, wrong: int) -> int:
    """Return the upper bound, with 95 % confidence, for the number of wrong leaves among all leaves.

    It is the largest D for which a sample of `drawn` leaves would contain at most `wrong` of D wrong leaves with a
    probability above 5 %.

    Args:
        size: number of leaves.
        drawn: number of leaves that were drawn and compared, at most `size`.
        wrong: number of wrong leaves among these, at most `drawn`.
    """
    least, most = wrong, size - drawn + wrong
    while least < most:
        middle = (least + most + 1) // 2
        if _is_excluded(middle, size, drawn, wrong):
            most = middle - 1
        else:
            least = middle
    return least


def _is_excluded(wrong_of_all: int, size: int, drawn: int, wrong: int) -> bool:
    """Return whether at most `wrong` of `wrong_of_all` leaves are drawn with a probability of 5 % or less.

    The calculation uses whole numbers and is exact.
    """
    right_of_all = size - wrong_of_all
    samples = 0
    for count in range(min(wrong, wrong_of_all) + 1):
        samples += comb(wrong_of_all, count) * comb(right_of_all, drawn - count)
    return 100 * samples <= (100 - CONFIDENCE_PERCENT) * comb(size, drawn)
