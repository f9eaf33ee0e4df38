"""Texts of a house with names that the shipped model does not know."""

import random

from agent.redaction.measuring.bench import GoldText

WORDS = "harvest copper pebble thimble lantern saddle barley walnut kettle".split()  # noqa: SIM905 (a row of words)


def house_texts(count: int, seed: int = 0) -> list[GoldText]:
    """Texts of a hospital that calls its wards by everyday words, where nobody else would look for a name."""
    chance = random.Random(seed)
    texts = []
    for number in range(count):
        ward = chance.choice(WORDS)
        before = (
            f"{chance.randint(2, 9)} tablets given, plan unchanged, sat out in chair, bed moved to "
        )
        text = (
            f"{before}{ward} corner, case {number}, potassium {chance.randint(30, 50) / 10} mmol/l."
        )
        texts.append(GoldText(text, ((len(before), len(before) + len(ward), "FACILITY"),)))
    return texts
