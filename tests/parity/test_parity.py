"""`scoring: helm` is HELM's scoring to the last digit, and each difference of the default has a documented reason."""

import json
import math
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from agent.metrics import METRICS, Labelled, MetricUse, compute_figure, read_labels, score
from agent.metrics.bert_score import NAMES
from agent.vocabulary import Instance, Message, Reference, Unscored
from tests.parity.cases import LABEL_SETS, ONE_CLASS, Case, closed_benchmarks, make_case
from tests.parity.faults import FAULTS, explain

HELM_PYTHON = os.environ.get("HELM_PYTHON")
pytestmark = pytest.mark.skipif(not HELM_PYTHON, reason="HELM itself is met by `make test-parity`")
BENCHMARKS = closed_benchmarks() if HELM_PYTHON else []
LINES: dict[str, str] = {}
MET: Counter[str] = Counter()


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Case, dict]]:
    """Every case, and what HELM's own metrics give for it."""
    folder = tmp_path_factory.mktemp("parity")
    cases = {benchmark.id: make_case(benchmark) for benchmark in BENCHMARKS}
    asked, given = folder / "cases.json", folder / "scores.json"
    asked.write_text(json.dumps({name: case.to_json() for name, case in cases.items()}), "utf-8")
    done = subprocess.run(
        [HELM_PYTHON, Path(__file__).with_name("upstream.py"), asked, given],
        capture_output=True,
        text=True,
        timeout=3_000,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    scores = json.loads(given.read_text("utf-8"))
    return {name: (case, scores[name]) for name, case in cases.items()}


def uses_of(case: Case) -> dict[str, MetricUse]:
    """Every metric with the options that the benchmark gives it."""
    return {name: MetricUse(name) for name in METRICS} | {
        use.name: use for use in case.benchmark.metrics
    }


def test_there_is_enough_to_compare(both):
    enough = [name for name, (case, _) in both.items() if len(case.answers) >= 200]
    assert len(enough) >= 10


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("id_", [benchmark.id for benchmark in BENCHMARKS])
def test_helm_scoring_is_helms_to_the_last_digit(id_, both):
    case, upstream = both[id_]
    uses = uses_of(case)
    assert (upstream["method"] == "multiple_choice_joint") == case.instances[0].multiple_choice
    compared = Counter()
    for (place, answer), theirs in zip(case.answers, upstream["scores"], strict=True):
        for name in theirs.keys() & METRICS.keys():
            ours = score(uses[name], answer, case.instances[place], "helm")
            compared[name] += 1
            assert ours == theirs[name], (name, case.instances[place].id, answer)
    elsewhere = {
        "jury_score",
        *NAMES,
    }  # met by test_jury.py, and by its own package in make test-extras
    wanted = {
        metric.name for metric in case.benchmark.metrics if METRICS[metric.name].fn
    } - elsewhere
    assert wanted <= compared.keys()
    for name, theirs in upstream["figures"].items():
        read = [
            read_labels(name, answer, case.instances[place], "helm")
            for place, answer in case.answers
        ]
        assert (
            compute_figure(name, [one for one in read if isinstance(one, Labelled)], "helm")
            == theirs
        ), name
        compared[name] += 1
    asked = f"{len(case.instances):5} instances ({case.known}), {len(case.answers):6} answers"
    LINES[id_] = f"{asked}, {sum(compared.values()):6} scores equal"


def test_figures_of_sets_of_labels_are_helms_to_the_last_digit(both):
    (upstreams,) = [
        upstream["figures_of_sets"] for _, upstream in both.values() if upstream["figures_of_sets"]
    ]
    for label_sets, theirs in zip((LABEL_SETS, ONE_CLASS, ONE_CLASS[:3]), upstreams, strict=True):
        for name in ("classification_macro_f1", "classification_micro_f1"):
            use = MetricUse(name, {"delimiter": ","})
            read = [
                read_labels(use, answer, _labelled_instance(golds), "helm")
                for golds, answer in label_sets
            ]
            assert compute_figure(use, read, "helm") == theirs[name]


def _labelled_instance(golds: list[str]) -> Instance:
    return Instance(
        "1", "1", (Message("user", "?"),), tuple(Reference(gold, True) for gold in golds)
    )


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("id_", [benchmark.id for benchmark in BENCHMARKS])
def test_each_difference_of_the_default_has_a_documented_reason(id_, both):
    case, upstream = both[id_]
    uses = uses_of(case)
    reasons: Counter[str] = Counter()
    for (place, answer), theirs in zip(case.answers, upstream["scores"], strict=True):
        instance = case.instances[place]
        for name in theirs.keys() & METRICS.keys():
            ours = score(uses[name], answer, instance)
            if not isinstance(ours, Unscored) and math.isclose(
                ours, theirs[name], rel_tol=1e-12, abs_tol=1e-12
            ):
                continue
            reason = explain(uses[name], instance, answer, ours, theirs[name])
            assert reason in FAULTS, (name, instance.id, answer, ours, theirs[name])
            reasons[reason] += 1
    MET.update(reasons)
    LINES[id_] = (
        LINES.get(id_, "")
        + "; default differs: "
        + ", ".join(f"{k} {n}" for k, n in reasons.most_common())
    )
