"""Describe a jury as scorecards register it: its judges, rubric and quorum.

Grades from different juries cannot be merged, so a site's scores enter a cell only if its jury is the registered one.
"""

from collections.abc import Sequence

from agent.jury.rubric import read_rubric
from agent.jury.seats import count_needed_verdicts, describe_sampling
from agent.metrics import Judge, MetricUse
from protocol.identity import tagged_digest
from protocol.scorecard import Jury


def register_jury(
    jury_id: str, use: MetricUse, judges: Sequence[Judge], quorum: int | None
) -> Jury:
    """Return the jury of a benchmark as a scorecard registers it.

    Args:
        jury_id: the name of the jury in the scorecard's cells.
        use: the jury metric as the benchmark defines it.
        judges: the judges by seat.
        quorum: number of seats that must give a valid verdict; None for more than half, which is also the minimum.
    """
    return Jury(
        id=jury_id,
        seats=tuple(judge.model_name for judge in judges),
        rubric=rubric_digest(use, judges),
        quorum=count_needed_verdicts(len(judges), quorum),
    )


def rubric_digest(use: MetricUse, judges: Sequence[Judge] = ()) -> str:
    """Return the digest of the requests to the judges of a metric.

    It covers criteria, questions, fields, prompt and scale, and the seeds and temperatures of `judges` if any is set.
    Other parts of the request depend on the agent's version, which every statement names.
    """
    rubric = read_rubric(use)
    criteria: list[list[object]] = []
    for name in sorted(rubric.criteria):
        question = use.criteria.get(name, "")
        criteria.append([name, question, list(rubric.fields[name])])
    scale = [f"{use.scale.low:g}", f"{use.scale.high:g}"]
    request: list[object] = [criteria, use.prompt, use.gold_shown, scale]
    # Left out if nothing is set, so that the digests of juries registered earlier stay the same.
    if any(describe_sampling(judge) for judge in judges):
        request.append(sorted([judge.model_name, describe_sampling(judge)] for judge in judges))
    return tagged_digest("rubric", request)


def describe_other_jury(use: MetricUse, registered: Jury) -> str:
    """Describe how the jury that graded a run differs from the registered one; empty if they are the same.

    Args:
        use: the metric as stored with the run, including the judges that graded.
        registered: the scorecard's jury.
    """
    differences = []
    judges = sorted(judge.model_name for judge in use.judges)
    registered_judges = sorted(registered.seats)
    if judges != registered_judges:
        differences.append(
            f"its judges were {', '.join(judges)} instead of {', '.join(registered_judges)}"
        )
    if rubric_digest(use, use.judges) != registered.rubric:
        differences.append(
            "its rubric was different (criteria, questions, prompt, scale, or its judges' seeds and temperatures)"
        )
    quorum = count_needed_verdicts(len(use.judges), use.quorum)
    if quorum != registered.quorum:
        differences.append(f"it required {quorum} valid verdicts instead of {registered.quorum}")
    return "; ".join(differences)
