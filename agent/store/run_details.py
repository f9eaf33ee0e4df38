"""The details of a run: its settings, data and scoring. They never contain patient text.

The documentation of a field states which runs lack its key, such as runs made by early versions. All other keys are in
every record.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.errors import StoreError
from agent.store.records import DAMAGED_ADVICE, LEFT_OUT_IF_NONE, StoredRecord
from agent.vocabulary import (
    USUAL_SCALE,
    AnswerMode,
    AnswerParser,
    Judge,
    Scale,
    Scoring,
    ScoringChoice,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptData(StoredRecord):
    """The data that a run read.

    Attributes:
        known: "official", "sample", "invented" or "unknown", by the versions in the benchmark's definition;
            "imported" if the run was made elsewhere.
        own: whether the benchmark's definition names a file of the site's own. Lacking in early runs.
        named: whether the run entry named the files. Lacking in early runs.
        attested: whether the data needs no agreement, or a person attested that the site has accepted it. None for
            imported runs and for runs before attestations were introduced.
        registered: commitment of the registered version; empty if there is none. Lacking in imported runs, and in runs
            before registrations were introduced.
        frozen_digest: SHA-256 over all files of that version; empty if there is none. Lacking in the same runs as
            `registered`.
        digest: SHA-256 of the files that were read; empty for imported runs.
        instances: number of instances in the data, before sampling.
        row_numbers: "file" if ids are numbers of the file's rows and differ from the row numbers of earlier versions,
            which did not count rows that are empty or left out; None otherwise.
        problems: sentences that describe how the data differs from the complete published data.
    """

    known: str = "unknown"
    own: bool = False
    named: bool = False
    attested: bool | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    registered: str = ""
    frozen_digest: str = ""
    digest: str = ""
    instances: int = 0
    row_numbers: str | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptJury(StoredRecord):
    """A jury, and the settings that determine its judges' prompts. For an imported jury, inferred from its verdicts.

    Attributes:
        judges: the seats, in order; empty if no jury was named yet.
        quorum: number of seats that must give a valid verdict; None for more than half, or for an imported jury.
        scale: lowest and highest grade.
        criteria: name -> question; the questions are empty if `prompt` contains them.
        fields: criterion -> names of the texts that a verdict contains for it besides the score.
        prompt: the benchmark's own prompt with placeholders; empty if the questions are in `criteria`.
        gold_shown: whether judges see the right answer.
    """

    judges: tuple[Judge, ...] = ()
    quorum: int | None = None
    scale: Scale = USUAL_SCALE
    criteria: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prompt: str = ""
    gold_shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMetric(StoredRecord):
    """A metric of a run. Early runs have only name, display_name, low, high and binary.

    Attributes:
        name: key of its scores in the store: the metric's name, plus `HELM_TWIN` for the twin by HELM's rules.
        metric: the metric's name in `agent.metrics`, or HELM's name for an imported metric that is not ours.
        display_name: name shown to people.
        helm_name: HELM's name for it in this benchmark.
        low, high: limits of its range; for a jury's metric, the ends of the jury's scale.
        binary: whether its scores can only be 0 or 1.
        scoring: the rules by which it was computed; None for the run's own rules.
        whole_run: whether only the run as a whole has a value.
        options: its settings in this benchmark; for an encoder, these identify the encoder's files.
        jury: the jury that grades the metric; None for other metrics, and in runs before juries were stored.
    """

    name: str
    metric: str = ""
    display_name: str = ""
    helm_name: str = ""
    low: float = 0
    high: float = 1
    binary: bool = False
    scoring: Scoring | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    whole_run: bool = False
    options: Mapping[str, bool | str] = field(default_factory=dict)
    jury: KeptJury | None = field(default=None, metadata=LEFT_OUT_IF_NONE)

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges of the metric's jury; empty without a jury."""
        return () if self.jury is None else self.jury.judges


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrigin(StoredRecord):
    """Where an imported run was made.

    Attributes:
        kind: "helm" for HELM's run folders, "helm-leaderboard" for the figures of a release.
        digest: SHA-256 of the imported files.
        scenario: the class named in HELM's run_spec.json; empty if none.
        groups: HELM's groups of the run.
    """

    kind: str = ""
    digest: str = ""
    scenario: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails(StoredRecord):
    """A run's settings for asking and scoring, with digests and findings.

    Attributes:
        display_name, category, subcategory: taken from the benchmark, and shown to people.
        access: the benchmark's access level; "unknown" for an imported run whose benchmark is not defined at this site.
        benchmark_digest: SHA-256 of the definition; empty for imported runs.
        lineage: the dataset that the units come from. Lacking in early runs.
        unit: noun for a unit, such as "patient". Lacking in early runs.
        unit_named: whether the data names the unit of each instance; otherwise each row is a unit. Lacking in early
            runs, which count as named.
        arguments: the benchmark's arguments, including defaults. Lacking in early runs.
        free_arguments: names of arguments whose values are not listed in a definition, so they may be free text. None
            in early runs, and in imported runs of unknown benchmarks.
        parts: argument -> values that together make the whole benchmark. Lacking in early runs.
        overrides: settings and arguments of the run entry that change the requests. Lacking in early runs.
        left_out: optional metrics that were omitted because the site had no encoder. Lacking in early and imported
            runs.
        sampled: maximum number of instances to ask; None for all. Lacking in early runs.
        sample_seed: seed that chose the instances of a sample. Lacking in early runs.
        plan: digest of the plan whose challenge gave `sample_seed`; empty if none. Lacking in early and imported runs.
        data: the data that was read.
        metrics: the benchmark's main metric first; with scoring "both" each is followed by its twin.
        scoring: the rules by which the answers are scored.
        parser: the parser that selects the part of an answer that our rules score. None for early and imported runs.
        agent_version: version of the agent that scored the answers or imported the run.
        reading_version: version of the rules that read the answers, `READING_VERSION`. Lacking in early and imported
            runs.
        max_tokens: maximum tokens of an answer; None if an imported run does not state it.
        prompt_limit: maximum tokens of a prompt, set by an argument of the benchmark; None for no limit. Lacking in
            early runs.
        temperature: sampling temperature; None if an imported run does not state it.
        stop: stop sequences.
        answer_mode: the way of asking. Lacking in early runs, which all have "generate".
        language_model: False for reference baselines.
        capabilities: the results of the capability probe, unparsed, because their keys depend on the probe's version;
            `agent.inference.capabilities.Capabilities` reads them.
        workarounds: sentences on features that the requests did without.
        weights: SHA-256 over the files of the weights that the agent itself served; None if others serve the model.
        origin: the origin of an imported run; None for a run made here.
    """

    display_name: str = ""
    category: str = ""
    subcategory: str = ""
    access: str = ""
    benchmark_digest: str = ""
    lineage: str = ""
    unit: str = ""
    unit_named: bool = True
    arguments: Mapping[str, str] = field(default_factory=dict)
    free_arguments: tuple[str, ...] | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sampled: int | None = None
    sample_seed: int = 0
    plan: str = ""
    data: KeptData = field(default_factory=KeptData)
    metrics: tuple[KeptMetric, ...] = ()
    scoring: ScoringChoice = "intramural"
    parser: AnswerParser | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    agent_version: str = ""
    reading_version: int = 1
    max_tokens: int | None = None
    prompt_limit: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    answer_mode: AnswerMode = "generate"
    language_model: bool = True
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    workarounds: tuple[str, ...] = ()
    weights: str | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    origin: RunOrigin | None = field(default=None, metadata=LEFT_OUT_IF_NONE)

    @property
    def is_judged(self) -> bool:
        """Whether the run has a metric that a jury grades."""
        return any((metric.metric or metric.name) == "jury_score" for metric in self.metrics)

    @property
    def has_own_data(self) -> bool:
        """Whether the data is the site's own, as it is for every private benchmark: no copy of it is official."""
        return self.data.own or (self.access == "private" and self.data.known == "unknown")

    def find_metric(self, name: str) -> KeptMetric | None:
        """Return the details of the metric with this name in the store."""
        return next((metric for metric in self.metrics if metric.name == name), None)


def read_details(text: str) -> RunDetails:
    """Read a run's details from their stored JSON.

    Raises:
        StoreError: they are damaged or of another version; the message names the key.
    """
    try:
        value = json.loads(text)
    except ValueError:
        raise StoreError(
            "a stored run is damaged: its details are not JSON", DAMAGED_ADVICE
        ) from None
    return RunDetails.from_json(value)


def write_details(details: RunDetails) -> str:
    """Return the details in their stored form."""
    return json.dumps(details.to_json())
