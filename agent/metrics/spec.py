"""The description of a metric: its range, and a pure function of (answer, instance)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.own_metrics.declaration import OwnMetric
from agent.reading.reading import Reading, ValueKind
from agent.vocabulary import USUAL_SCALE, Instance, Judge, Scale, Scoring, Unscored

Options = Mapping[str, bool | str]
"""A benchmark's settings for a metric, for example {"stemmer": False}. Each setting has the type of its default."""

ScoreFunction = Callable[[str, Instance, Options], float | Unscored]
"""Scores one answer, which is never empty: empty answers are marked unscored before a metric is called."""

ReadFunction = Callable[[str, Instance, Options], Reading | Unscored]
"""Returns the value that a metric reads from an answer, which is never empty, and where the answer states it."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer as counted by a metric of the whole run: the right labels and the given labels.

    Attributes:
        unit: the instance's unit, used for resampling.
        gold: the right labels; a single label if the task is to choose a class.
        predicted: the labels the answer gives.
        multiple_choice: whether the labels are options; HELM counts classes differently for these.
    """

    unit: str
    gold: frozenset[str]
    predicted: frozenset[str]
    multiple_choice: bool = False


LabelFunction = Callable[[str, Instance, Options, Scoring], Labelled | Unscored]
"""Reads the labels of one answer."""

WholeRun = Callable[[Sequence[Labelled]], float]
"""Computes one metric of a whole run. Raises ValueError if there is no data to compute it from."""


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric.

    Attributes:
        name: HELM's name if HELM has the metric.
        display_name: the name in tables and on pages.
        low: the worst possible score.
        high: the best possible score.
        binary: whether a score is always `low` or `high`, so that a mean is a proportion.
        doc: a one-sentence description for users.
        fn: our rule; None for a metric of the whole run, for which single answers have no score.
        helm_fn: upstream's rule with its faults (`scoring: helm`); None if both rules are the same.
        options: the settings that a benchmark may change, with their defaults.
        labels: for a metric of the whole run: reads one answer's labels.
        whole_run: for a metric of the whole run: computes it from all labelled answers.
        helm_whole_run: the same by upstream's rule; None if both rules are the same.
        read: shows what the metric reads from an answer. The value of the reading, taken as an answer, has the same
            score; None if the metric compares the whole text.
        value_kind: the kind of that value; "option" applies to questions with options, which are else "text".
        later: whether the metric is computed from stored answers after the run (`agent.scoring.deferred`), because it
            is slow or needs a model of its own. Until then an answer is unscored(not_measured).
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
    read: ReadFunction | None = None
    value_kind: ValueKind = "text"
    later: bool = False


@dataclass(frozen=True, slots=True)
class MetricUse:
    """A metric as used by a benchmark: with the benchmark's options and, for a jury, the judges' criteria or prompt.

    Attributes:
        name: a metric in `agent.metrics`, or `own/NAME` for a metric of the site's own.
        options: the settings that this benchmark changes.
        prompt: a jury's own prompt with unfilled placeholders; empty if `criteria` define the request.
        judges: the judges of a jury, by seat; empty for the site's judges.
        quorum: number of seats that must give a valid verdict; None for more than half, which is also the minimum.
        scale: the scale of a jury's grades.
        helm_name: HELM's name for the metric in this benchmark (`aci_bench_accuracy`); empty if it is `name`.
        optional: whether a run continues without the metric, with a note, if the site lacks what it needs.
        criteria: for a jury: name -> question; with its own prompt, the questions are empty.
        fields: for a jury: criterion -> the fields of a verdict besides `score`, such as `explanation`.
        gold_shown: whether a jury is shown the right answer.
        own: what the code of the site's own metric declares; None for others, and until the use is bound to the code.
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
    own: OwnMetric | None = None
