"""Check that a dataset's right answers can be scored, by scoring them like the answers of a model."""

from collections.abc import Callable

from agent.catalog.benchmark import Benchmark
from agent.datasets.references import find_right_answer
from agent.metrics import JUDGED, METRICS, read_labels, score
from agent.metrics.ehr_sql import SPECS as OF_QUERIES
from agent.vocabulary import Instance, Reason, Unscored

# Jury metrics need judges. Database queries can take arbitrarily long, so they are only run when an answer is scored.
_NOT_TRIED = JUDGED | {spec.name for spec in OF_QUERIES}
_BEGINNING = 200  # characters


def build_gold_check(benchmark: Benchmark) -> Callable[[Instance], str] | None:
    """Return a function that explains why the main metric cannot score an instance's right answer, or None.

    The function returns "" if the answer can be scored. A binary metric must count the right answer as right. Other
    metrics only need to find a reference, and are given the first 200 characters of the answer, because comparing long
    texts with themselves could take minutes per file. The result is None for jury and query metrics, which are not
    checked.
    """
    use = benchmark.main_metric
    if use.name in _NOT_TRIED or use.name not in METRICS:
        return None
    spec = METRICS[use.name]

    def explain_fault(instance: Instance) -> str:
        answer = find_right_answer(instance.references, multiple_choice=instance.multiple_choice)
        if not answer.strip():
            return f"has no right answer, which {use.name} needs"
        answer = answer if spec.binary else answer[:_BEGINNING]
        result = (
            read_labels(use, answer, instance) if spec.fn is None else score(use, answer, instance)
        )
        if result == Unscored(Reason.NO_REFERENCE):
            return f"{use.name} cannot use the row's right answer or a related column (category, limits, ...)"
        if spec.binary and spec.fn is not None and result != spec.high:
            return f"{use.name} scores the row's own right answer as wrong"
        return ""

    return explain_fault
