"""Pairs of a reference and an answer: real notes, and texts of few words by chance."""

import json
import random
from pathlib import Path

NOTES = json.loads(
    (Path(__file__).parents[2] / "data/aci_bench/led_test2.json").read_text(encoding="utf-8")
)


def texts() -> list[tuple[str, str]]:
    chance = random.Random(2)
    words = [
        "pain",
        "runs",
        "running",
        "run",
        "fever",
        "fevers",
        "a",
        "of",
        "the",
        "3",
        "mg",
        "\n",
        "\n\n",
    ]
    made = [
        tuple(" ".join(chance.choices(words, k=chance.randrange(12))) for _ in range(2))
        for _ in range(250)
    ]
    return [(note["reference"], note["predicted"]) for note in NOTES[:4]] + made
