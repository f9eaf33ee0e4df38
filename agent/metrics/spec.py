"""What a metric is: its range, and a pure function of (answer, instance)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.vocabulary import USUAL_SCALE, Instance, Judge, Scale, Scoring, Unscored

Options = Mapping[str, bool | str]
"""A benchmark's own settings of a metric, for example {"stemmer": False}. The default's type is the setting's."""

ScoreFunction = Callable[[str, Instance, Options], float | Unscored]
"""Scores one answer. Never empty: an empty answer is unscored before a metric sees it."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer as a metric of the whole run counts it: which labels are right, and which were given.

    Attributes:
        unit: the instance's unit, to resample by.
        gold: the right labels; one where the task is to choose a class.
        predicted: the labels the answer gives.
        multiple_choice: whether they are options; HELM counts classes differently there.
    """

    unit: str
    gold: frozenset[str]
    predicted: frozenset[str]
    multiple_choice: bool = False


LabelFunction = Callable[[str, Instance, Options, Scoring], Labelled | Unscored]
"""Reads the labels of one answer."""

WholeRun = Callable[[Sequence[Labelled]], float]
"""Computes one figure of a whole run. Raises ValueError where there is nothing to compute it from."""


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric.

    Attributes:
        name: HELM's name where HELM has the metric.
        display_name: for tables and pages.
        low: the worst possible score.
        high: the best possible score.
        binary: whether a score is always `low` or `high`, so that a mean is a proportion.
        doc: one sentence for people.
        fn: the right rule; None for a metric of the whole run, which no single answer has.
        helm_fn: upstream's rule with its faults (`scoring: helm`); None where both are the same.
        options: the settings a benchmark may give it, with their defaults.
        labels: of a metric of the whole run: reads one answer's labels.
        whole_run: of a metric of the whole run: the figure from all of its labelled answers.
        helm_whole_run: upstream's figure; None where both are the same.
        later: computed from stored answers after the asking (`agent.scoring.deferred`), because it takes long or
            needs a model of its own; until then an answer is unscored(not_measured).
    """

    name: str
    display_name: str
    low: int
    high: int
    binary: bool
    doc: str
    fn: ScoreFunction | None
    helm_fn: ScoreFunction | None = None
    options: Options = field(default_factory=dict)
    labels: LabelFunction | None = None
    whole_run: WholeRun | None = None
    helm_whole_run: WholeRun | None = None
    later: bool = False


@dataclass(frozen=True, slots=True)
class MetricUse:
    """A metric as a benchmark uses it: with its own options and, for a jury, what the judges are asked.

    Attributes:
        name: one of `agent.metrics`.
        options: its settings here.
        prompt: a jury's own prompt, its placeholders unfilled; empty where `criteria` say what is asked.
        judges: the seats of a jury; empty: those of the site.
        quorum: seats that must give a valid verdict; None: more than half. Never less than that.
        scale: of a jury's grades.
        helm_name: what HELM calls it in this benchmark (`aci_bench_accuracy`); empty: as here.
        optional: whether a run goes without it where the site lacks what it needs, and says so.
        criteria: of a jury: name -> question; with a prompt of its own the questions are empty.
        fields: of a jury: criterion -> what a verdict holds for it besides `score`, such as `explanation`.
        gold_shown: whether a jury sees the right answer.
    """

    name: str
    options: Options = field(default_factory=dict)
    prompt: str = ""
    judges: tuple[Judge, ...] = ()
    quorum: int | None = None
    scale: Scale = USUAL_SCALE
    helm_name: str = ""
    criteria: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gold_shown: bool = True
    optional: bool = False
