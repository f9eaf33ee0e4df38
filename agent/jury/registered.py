"""Juries as scorecards register them: which judges grade by which rubric, and how many of them must agree to a score.

Grades of two juries cannot be merged, so a site's scores enter a cell only if its own jury is the registered one.
"""

from collections.abc import Sequence

from agent.jury.rubric import rubric_of
from agent.jury.seats import least_verdicts
from agent.metrics import Judge, MetricUse
from protocol.identity import tagged_digest
from protocol.scorecard import Jury


def register_jury(jury_id: str, use: MetricUse, judges: Sequence[Judge], quorum: int | None) -> Jury:
    """Return the jury of a benchmark as a scorecard registers it.

    Args:
        jury_id: how its cells name it.
        use: the jury metric as the benchmark defines it.
        judges: by seat.
        quorum: seats that must give a valid verdict; None: more than half. Never less than that.
    """
    return Jury(
        id=jury_id,
        seats=tuple(judge.model_name for judge in judges),
        rubric=rubric_digest(use),
        quorum=least_verdicts(len(judges), quorum),
    )


def rubric_digest(use: MetricUse) -> str:
    """Return the digest of what the judges of a metric are asked: criteria, questions, fields, prompt and scale.

    The words around them are those of the agent's version, which every statement names.
    """
    rubric = rubric_of(use)
    criteria = [[name, use.criteria.get(name, ""), list(rubric.fields[name])] for name in sorted(rubric.criteria)]
    scale = [f"{use.scale.low:g}", f"{use.scale.high:g}"]
    return tagged_digest("rubric", [criteria, use.prompt, use.gold_shown, scale])


def describe_other_jury(use: MetricUse, registered: Jury) -> str:
    """Say how the jury that graded a run differs from the registered one; empty if they are the same.

    Args:
        use: the metric as the run keeps it, with the judges that graded.
        registered: of the scorecard.
    """
    differences = []
    seats = sorted(judge.model_name for judge in use.judges)
    if seats != sorted(registered.seats):
        differences.append(f"its judges were {', '.join(seats)} and not {', '.join(sorted(registered.seats))}")
    if rubric_digest(use) != registered.rubric:
        differences.append("its rubric was another one (criteria, questions, prompt or scale)")
    quorum = least_verdicts(len(use.judges), use.quorum)
    if quorum != registered.quorum:
        differences.append(f"it asked for {quorum} valid verdicts and not {registered.quorum}")
    return "; ".join(differences)
