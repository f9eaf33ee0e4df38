"""What the pages ask of a site: one Protocol and the values it answers with.

The store answers; the pages redact and draw. Two kinds of text cross this line and they are kept apart by
type: `CaseRecord` carries text of a case (decrypted), which the pages pass through redaction before anything
else; all other values carry names, numbers and codes that were never part of a case. Whoever fills
`RunDetail.settings` or a `CapabilityLine` must therefore keep paths, data file names and server replies out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from agent.vocabulary import AccessLevel, Failure, Instance, Reason, Response, Score, Unscored

RunState = Literal["running", "complete", "incomplete"]  # incomplete: stopped, or some instances failed
Verdict = Literal["honoured", "ignored", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class MetricMean:
    """A metric's mean over one run.

    Attributes:
        metric: its name.
        n: instances scored.
        unscored: instances of the run without a score.
        mean: in [scale_low, scale_high]; None when n is 0.
        interval: 95 % interval of the mean, low then high, on the same scale; None when there is none.
        scale_low, scale_high: the metric's range.
    """

    metric: str
    n: int
    unscored: int
    mean: float | None
    interval: tuple[float, float] | None
    scale_low: float = 0.0
    scale_high: float = 1.0


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """One local, named collection of runs."""

    name: str
    runs: int
    models: int
    benchmarks: int
    last_run: datetime | None  # aware; when the newest run began


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run: a model on a benchmark, in a suite.

    Attributes:
        id: the store's name for the run: letters, digits, dash and underscore; part of the page's address.
        benchmark: its id; `benchmark_name` is for people.
        model: HELM's name, for example "qwen/qwen2.5-7b-instruct".
        is_language_model: False for the reference baselines, which the pages label as what they are.
        dataset: whether the data are the benchmark's official file, a sample of it, unknown or invented.
        instances: planned; `answered` of them have a response or a failure.
        main: the benchmark's main metric.
        started: aware.
    """

    id: str
    suite: str
    benchmark: str
    benchmark_name: str
    category: str
    access: AccessLevel
    model: str
    model_name: str
    is_language_model: bool
    dataset: str
    state: RunState
    instances: int
    answered: int
    main: MetricMean
    started: datetime


@dataclass(frozen=True, slots=True)
class CapabilityLine:
    """One thing the probe found out about the server, in plain words of ours."""

    feature: str
    verdict: Verdict
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class RunDetail:
    """Everything a run's own page shows but the instances.

    Attributes:
        summary: as in the list of runs.
        means: every metric, the main one first.
        unscored: how often each reason left the main metric without a score; only reasons that occurred.
        settings: label and value, in the order to show them (scoring, temperature, seed, digests, ...).
        capabilities: empty for a run whose server was not probed.
    """

    summary: RunSummary
    means: tuple[MetricMean, ...]
    unscored: Mapping[Reason, int]
    settings: tuple[tuple[str, str], ...]
    capabilities: tuple[CapabilityLine, ...]


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """One instance of a run with what the model said of it, decrypted: text of a case.

    Attributes:
        key: keyed hash of the benchmark's instance id, lower-case hex; the id itself never reaches a page.
        instance: None once purged: scores outlive texts.
        answer: None while not asked, or once purged.
        scores: by metric name, the main one first.
    """

    key: str
    instance: Instance | None
    answer: Response | Failure | None
    scores: Mapping[str, Score | Unscored]


class SiteReader(Protocol):
    """What the pages need of a site. Methods only read, but for `audit`.

    Raises of every method: StoreError when the store cannot be read or decrypted.
    """

    @property
    def name(self) -> str:
        """The site's name, for the head of each page."""
        ...

    def suites(self) -> Sequence[SuiteSummary]:
        """Every suite, newest run first."""
        ...

    def runs(self, suite: str) -> Sequence[RunSummary]:
        """The runs of a suite, by benchmark and then model; empty when there is no such suite."""
        ...

    def run(self, run_id: str) -> RunDetail | None:
        """One run, or None when there is none of that id."""
        ...

    def instances(self, run_id: str, *, offset: int, limit: int) -> Sequence[CaseRecord]:
        """At most `limit` instances of a run in benchmark order, from `offset` (in instances) on."""
        ...

    def audit(self, event: str) -> None:
        """Append one line to the site's audit log, and return only once it is on disk.

        `event` holds no text of a case: what was done and to which run, for example
        "reveal run=3f2a instances=0-19".
        """
        ...
