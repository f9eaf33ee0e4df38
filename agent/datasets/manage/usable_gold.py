"""Whether a dataset's right answers can be scored: each is handed to the main metric as if a model had given it."""

from collections.abc import Callable

from agent.catalog.benchmark import Benchmark
from agent.metrics import JUDGED, METRICS, labels, score
from agent.metrics.ehr_sql import SPECS as OF_QUERIES
from agent.vocabulary import Instance, Reason, Unscored

# A jury is asked elsewhere. A query takes as long as its database needs, and is run when an answer is scored.
_NOT_TRIED = JUDGED | {spec.name for spec in OF_QUERIES}
_BEGINNING = 200  # characters


def gold_check(benchmark: Benchmark) -> Callable[[Instance], str] | None:
    """Return what says why an instance's right answer is of no use to the main metric ("" where it is); None for none.

    A metric that says right or wrong must call the right answer right. Of any other only whether it has a reference at
    all is asked, with the first 200 characters: long texts held against themselves would take minutes a file. Juries
    and queries are not tried.
    """
    use = benchmark.main_metric
    if use.name in _NOT_TRIED or use.name not in METRICS:
        return None
    spec = METRICS[use.name]

    def fault(instance: Instance) -> str:
        answer = _right_answer(instance)
        if not answer.strip():
            return f"has no right answer, and {use.name} needs one"
        answer = answer if spec.binary else answer[:_BEGINNING]
        found = labels(use, answer, instance) if spec.fn is None else score(use, answer, instance)
        if found == Unscored(Reason.NO_REFERENCE):
            return f"{use.name} cannot use its right answer, or what belongs to it (category, limits, ...)"
        if spec.binary and spec.fn is not None and found != spec.high:
            return f"{use.name} does not count its own right answer as right"
        return ""

    return fault


def _right_answer(instance: Instance) -> str:
    for index, reference in enumerate(instance.references):
        if reference.correct:
            return chr(ord("A") + index) if instance.multiple_choice else reference.text
    return ""
