"""The details of a run: how it was asked, of which data, and how it is scored. Never the text of a case.

Each field says which runs lack its key: those of early versions, or imported ones. The other keys are in every record.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.errors import StoreError
from agent.store.records import DAMAGED_ADVICE, LEFT_OUT_IF_NONE, StoredRecord
from agent.vocabulary import USUAL_SCALE, AnswerParser, Judge, Scale, Scoring, ScoringChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptData(StoredRecord):
    """The data that a run read.

    Attributes:
        known: "official", "sample", "invented" or "unknown": whether the benchmark knows this version of its data;
            "imported" where only the place that made the run could know.
        own: whether the benchmark's definition names a file of the site. Lacking in early runs.
        named: whether the run entry named the files. Lacking in early runs.
        attested: whether no agreement is needed for the data, or a person attested that the site has accepted it. None
            for imported runs and those before attestations.
        registered: commitment of the registered version; empty if there is none. Lacking in imported runs, and in those
            before registrations.
        frozen_digest: SHA-256 over all files of that version; empty if there is none. Lacking as `registered`.
        digest: SHA-256 of the files that were read; empty for imported runs.
        instances: how many the data holds, before any were sampled.
        problems: sentences on how the data differs from the whole published data.
    """

    known: str = "unknown"
    own: bool = False
    named: bool = False
    attested: bool | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    registered: str = ""
    frozen_digest: str = ""
    digest: str = ""
    instances: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptJury(StoredRecord):
    """A jury, and all that decides what its judges are asked. Of an imported jury, as far as its verdicts show it.

    Attributes:
        judges: the seats, in order; empty before a jury was named.
        quorum: seats that must give a valid verdict; None: more than half, or an imported jury.
        scale: lowest and highest grade.
        criteria: name -> question; the questions are empty where `prompt` asks.
        fields: criterion -> texts that a verdict holds for it besides its score.
        prompt: the benchmark's own, with unfilled placeholders; empty where `criteria` ask.
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
    """A metric as a run was measured by it. Early runs keep name, display_name, low, high and binary alone.

    Attributes:
        name: key of its scores in the store: the metric's, with `HELM_TWIN` after it for the twin by HELM's rules.
        metric: the metric's name in `agent.metrics`, or HELM's for an imported metric that is not ours.
        display_name: for people.
        helm_name: HELM's name for it in this benchmark.
        low, high: ends of its range; of a jury's metric, those of the jury's scale.
        binary: whether its scores are 0 and 1 alone.
        scoring: the rules that it was computed by; None: those of the run.
        whole_run: whether only the run as a whole has a value.
        options: its settings in this benchmark; those of an encoder name the encoder's files.
        jury: of a metric that a jury gives; None for others, and in runs before juries were kept.
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
        """The judges of its jury; empty without a jury."""
        return () if self.jury is None else self.jury.judges


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrigin(StoredRecord):
    """Where an imported run was made.

    Attributes:
        kind: "helm" for HELM's run folders, "helm-leaderboard" for the figures of a release.
        digest: SHA-256 of the files that were imported.
        scenario: the class that HELM's run_spec.json names; empty if none.
        groups: HELM's groups of the run.
    """

    kind: str = ""
    digest: str = ""
    scenario: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails(StoredRecord):
    """How a run was asked and is scored: settings, digests and findings.

    Attributes:
        display_name, category, subcategory: of the benchmark, for people.
        access: the benchmark's access level; "unknown" for an imported run whose benchmark is not defined here.
        benchmark_digest: SHA-256 of the definition; empty for imported runs.
        lineage: the dataset that the units come from. Lacking in early runs.
        unit: what a unit is, for people, such as "patient". Lacking in early runs.
        unit_named: whether the data names the unit of each instance; else the number of a row stands for it. Lacking in
            early runs, which count as named.
        arguments: the benchmark's own, with defaults filled in. Lacking in early runs.
        free_arguments: names of those whose value no definition lists, so that it may be free text. None in early runs,
            and in imported runs of unknown benchmarks.
        parts: argument -> values that together make the whole benchmark. Lacking in early runs.
        overrides: settings and arguments of the run entry that change what is asked. Lacking in early runs.
        left_out: optional metrics for which the site had no encoder. Lacking in early and imported runs.
        sampled: the most instances that the run was to ask; None: all. Lacking in early runs.
        sample_seed: chose the instances, where they are a sample. Lacking in early runs.
        plan: digest of the submission's plan whose challenge gave `sample_seed`; empty: none. Lacking in early and
            imported runs.
        data: the data that was read.
        metrics: the benchmark's main metric first; with scoring "both" each is followed by its twin.
        scoring: the rules that the answers are scored by.
        parser: the part of an answer that our rules score. None for early and imported runs.
        agent_version: of the agent that scored the answers, or imported the run.
        max_tokens: of an answer; None where an imported run does not say.
        prompt_limit: most tokens of a prompt, by an argument of the benchmark; None: no limit. Lacking in early runs.
        temperature: None where an imported run does not say.
        stop: stop sequences.
        language_model: False for reference baselines.
        capabilities: what the probe found out about the server, for `agent.inference.capabilities.Capabilities`, which
            reads it: what one version of the probe keeps, another may not know.
        workarounds: sentences on what the requests did without.
        origin: where an imported run was made; None: here.
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
    max_tokens: int | None = None
    prompt_limit: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    language_model: bool = True
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    workarounds: tuple[str, ...] = ()
    origin: RunOrigin | None = field(default=None, metadata=LEFT_OUT_IF_NONE)

    @property
    def is_judged(self) -> bool:
        """Whether the run has a metric that a jury gives."""
        return any((metric.metric or metric.name) == "jury_score" for metric in self.metrics)

    def find_metric(self, name: str) -> KeptMetric | None:
        """Return the details of the metric whose scores have this name."""
        return next((metric for metric in self.metrics if metric.name == name), None)


def read_details(text: str) -> RunDetails:
    """Return the details that the store keeps as JSON.

    Raises:
        StoreError: they are damaged, or of another version; names the key.
    """
    try:
        value = json.loads(text)
    except ValueError:
        raise StoreError(
            "a stored run is damaged: its details are not JSON", DAMAGED_ADVICE
        ) from None
    return RunDetails.from_json(value)


def write_details(details: RunDetails) -> str:
    """Return the details as the store keeps them."""
    return json.dumps(details.to_json())
