"""The metrics by name: what they are, what has no score, and which names are refused."""

import subprocess
import sys

import pytest

from agent.errors import BenchmarkError
from agent.metrics import JUDGED, METRICS, MetricUse, check_available, parse_answer, score
from agent.vocabulary import Reason, Unscored
from tests.agent.metrics.asked import CHOICE, free


def test_what_an_answer_says_is_shown_as_a_letter():
    assert parse_answer("The answer is B.", CHOICE) == "B"
    assert parse_answer("dunno", CHOICE) == Unscored(Reason.UNPARSED)
    assert parse_answer(" text ", free("x")) == "text"
    assert parse_answer(" ", free("x")) == Unscored(Reason.EMPTY)


@pytest.mark.parametrize(
    "metric",
    [
        name
        for name, spec in METRICS.items()
        if spec.fn and name not in JUDGED and not name.startswith("medcalc")
    ],
)
def test_no_reference_is_no_score(metric):
    assert score(metric, "Yes", free()) == Unscored(Reason.NO_REFERENCE)


def test_a_metric_that_nobody_knows_is_refused_by_name_before_anything_is_asked():
    with pytest.raises(BenchmarkError, match="bleu_1"):
        check_available("own", (MetricUse("exact_match"), MetricUse("bleu_1")))
    with pytest.raises(BenchmarkError, match="bleu_1"):
        score("bleu_1", "x", free("x"))
    check_available("own", (MetricUse("exact_match"),))


def test_an_answer_for_a_jury_is_kept_and_has_no_score():
    check_available("own", (MetricUse("jury_score"),))
    assert {"jury_score"} == JUDGED
    assert score("jury_score", "rest", free("rest")) == Unscored(Reason.NOT_JUDGED)
    assert score("jury_score", "rest", free("rest"), "helm") == Unscored(Reason.NOT_JUDGED)
    assert score("jury_score", " ", free("rest")) == Unscored(Reason.EMPTY)


def test_every_metric_says_what_it_is():
    for name, spec in METRICS.items():
        assert spec.name == name
        assert spec.low < spec.high
        assert spec.doc.endswith(".")


def test_importing_the_metrics_is_cheap():
    code = (
        "import sys, agent.metrics, agent.datasets.load, agent.catalog.run_entries, agent.catalog.deployments;"
        "print([m for m in ('numpy', 'pydantic', 'rouge_score', 'nltk', 'pyhocon', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_compiles_the_patterns_of_readers_when_an_answer_needs_them():
    """Compiling them, and loading redaction and exports, takes longer than the rest of a small run."""
    code = (
        "import sys, agent.cli.main, agent.cli.run_report, agent.scoring.readings;"
        "from agent.catalog.benchmark import survey_benchmarks; from agent.runs.run import run_entries;"
        "assert survey_benchmarks();"
        "late = ('choice.reader', 'labels', 'numbers', 'note_verdicts', 'queries');"
        "late = [f'agent.reading.{name}' for name in late];"
        "late += ['agent.redaction.gateway.cases', 'agent.exchange.helm.export'];"
        "print([name for name in late if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
