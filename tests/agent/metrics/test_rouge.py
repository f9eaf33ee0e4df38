"""ROUGE is Google's package to the last digit, in a tenth of its time."""

import json
import random
import time
from pathlib import Path

import pytest
from rouge_score.rouge_scorer import RougeScorer

from agent.metrics.rouge import f_measure

NOTES = json.loads((Path(__file__).parents[2] / "data/aci_bench/led_test2.json").read_text(encoding="utf-8"))


def texts() -> list[tuple[str, str]]:
    chance = random.Random(2)
    words = ["pain", "runs", "running", "run", "fever", "fevers", "a", "of", "the", "3", "mg"]
    made = [tuple(" ".join(chance.choices(words, k=chance.randrange(12))) for _ in range(2)) for _ in range(500)]
    return [(note["reference"], note["predicted"]) for note in NOTES[:8]] + made


@pytest.mark.parametrize("stemmer", [True, False])
def test_every_figure_is_the_packages_to_the_last_digit(stemmer):
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmer)
    for gold, predicted in texts():
        for kind, measure in scorer.score(gold, predicted).items():
            assert f_measure(gold, predicted, kind, stemmer=stemmer) == measure.fmeasure


def test_a_thousand_notes_would_take_seconds():
    note = NOTES[0]
    f_measure("warm up", "warm up", "rougeL", stemmer=True)
    before = time.process_time()
    for i in range(100):
        f_measure(note["reference"], f"{note['predicted']} {i}", "rougeL", stemmer=True)
    assert time.process_time() - before < 2  # 0.1 s here; the package itself takes 6
