"""A random sample of leaves, and what as many matches say of all of them. Pure.

The sample is drawn without replacement, so the number of wrong leaves in it follows the hypergeometric distribution.
The bound is the exact one-sided limit that inverts its test (L. Katz, "Confidence intervals for the number showing a
certain characteristic in a population when sampling is without replacement", J. Am. Stat. Assoc. 48, 1953, 256-261;
J. P. Buonaccorsi, "A note on confidence intervals for proportions in finite populations", Am. Stat. 41, 1987, 215-218).
With no wrong leaf among k of very many it comes close to 3/k, the "rule of three" (J. A. Hanley and A. Lippman-Hand,
"If nothing goes wrong, is everything all right?", JAMA 249, 1983, 1743-1745): 1 % at k = 300.
"""

import hashlib
from math import comb
from typing import Final

CONFIDENCE_PERCENT: Final = 95


def draw_leaves(size: int, count: int, seed: str) -> list[int]:
    """Return `count` different places among `size` leaves (all where there are fewer), rising.

    Every leaf gets SHA-256 of the seed and its place, and those with the smallest are drawn: the same seed draws the
    same leaves on every machine, and who learns the seed after the submission was signed cannot have prepared for it.
    """
    ranked = sorted(
        range(size), key=lambda place: hashlib.sha256(f"{seed}\0{place}".encode()).digest()
    )
    return sorted(ranked[:count])


def bound_wrong_leaves(size: int, drawn: int, wrong: int) -> int:
    """Return the largest number of wrong leaves among all that the sample does not exclude with 95 % confidence.

    That is the largest D for which a sample of `drawn` would hold at most `wrong` of D with a probability above 5 %.

    Args:
        size: number of leaves.
        drawn: how many were drawn and compared, at most `size`.
        wrong: how many of these were wrong, at most `drawn`.
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
    """Whether at most `wrong` would be drawn of so many with a probability of 5 % or less. In whole numbers: exact."""
    right_of_all = size - wrong_of_all
    samples = 0
    for count in range(min(wrong, wrong_of_all) + 1):
        samples += comb(wrong_of_all, count) * comb(right_of_all, drawn - count)
    return 100 * samples <= (100 - CONFIDENCE_PERCENT) * comb(size, drawn)
