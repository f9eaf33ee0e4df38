"""One of our runs as HELM's run_spec.json and scenario.json: settings only, taken one by one."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.catalog.benchmark import Benchmark
from agent.exchange.helm.juries import jury_metric, keys_of_jury
from agent.exchange.helm.names import name_of_run_spec, pairs_of_run_spec
from agent.scoring.measures import HELM_TWIN
from agent.store import KeptMetric, Run, RunOrigin

LONGEST_FOLDER_NAME = 200  # bytes; file systems take 255
SPLITS = {"helm.benchmark.scenarios.med_mcqa_scenario.MedMCQAScenario": "valid"}  # HELM reads all others as "test"
# Arguments that HELM's scenarios take; ours may take more.
_HELM_ARGUMENTS = frozenset({"category", "condition", "language", "max_length", "subject", "subset", "version"})
# Classes that know HELM's metrics by name, so that an automatic schema has them.
_METRIC_CLASSES = {
    "medcalc_bench_": "medcalc_bench_metrics.MedCalcBenchMetric",
    "medec_": "medec_metrics.MedecMetric",
    "ehr_sql_": "ehr_sql_metrics.EhrSqlMetric",
    "mimiciv_billing_code_": "mimiciv_billing_code_metrics.MIMICIVBillingCodeMetric",
    "classification_": "classification_metrics.MultipleChoiceClassificationMetric",
}


class HelmSpec:
    """What HELM's files say of a run besides its instances.

    Args:
        run: ours.
        benchmark: of the catalogue, where it is there.
        deployment: what the deployment is called outside.
    """

    def __init__(self, run: Run, benchmark: Benchmark | None, deployment: str) -> None:
        self._run = run
        self._benchmark = benchmark
        self.deployment = deployment
        origin = run.details.origin or RunOrigin()
        self.scenario = (benchmark.helm_scenario if benchmark else "") or origin.scenario
        self.scenario = self.scenario or f"intramural.benchmarks.{re.sub(r'[^A-Za-z0-9_]', '_', run.benchmark)}"
        groups = (benchmark.helm_groups if benchmark else ()) or origin.groups or (run.benchmark,)
        self.group: str = groups[-1]  # HELM's wider ones stand over several benchmarks
        self.split = SPLITS.get(self.scenario, "test")
        self.helm_names = {
            metric.name: _helm_key(metric.name, metric.helm_name or metric.name) for metric in run.details.metrics
        }
        self.judges = {  # their names in annotations, by metric; HELM's own rule has the same jury
            metric.name: keys_of_jury(metric)
            for metric in run.details.metrics
            if metric.jury is not None and not metric.name.endswith(HELM_TWIN)
        }

    def run_spec(self, name: str, *, multiple_choice: bool) -> dict[str, Any]:
        """Return run_spec.json."""
        return {
            "name": name,
            "scenario_spec": {"class_name": self.scenario, "args": self._scenario_args()},
            "adapter_spec": self.adapter_spec(multiple_choice=multiple_choice),
            "metric_specs": list(_metric_specs(self.group, self._run.details.metrics, self.helm_names)),
            "data_augmenter_spec": {},
            "groups": [self.group],
        }

    def _scenario_args(self) -> dict[str, str]:
        if self._benchmark is None or not self._benchmark.helm_scenario:
            return {}
        known = _HELM_ARGUMENTS & self._benchmark.arguments.keys()
        given = {key: value for key, value in pairs_of_run_spec(self._run.name) if key in known}
        # HELM's scenarios of data that is not public want a path; ours stays here.
        return given if self._benchmark.access == "public" else given | {"data_path": "-"}

    def adapter_spec(self, *, multiple_choice: bool) -> dict[str, Any]:
        """Return how the instances were asked."""
        details = self._run.details
        return {
            "method": "multiple_choice_joint" if multiple_choice else "generation",
            "input_prefix": "",
            "input_suffix": "",
            "output_prefix": "",
            "output_suffix": "",
            "instance_prefix": "",
            "max_train_instances": 0,
            "num_outputs": 1,
            "model_deployment": self.deployment,
            "model": self._run.model,
            "stop_sequences": list(details.stop),
            **({} if details.temperature is None else {"temperature": details.temperature}),
            **({} if details.max_tokens is None else {"max_tokens": details.max_tokens}),
        }

    def scenario_json(self, note: str) -> dict[str, Any]:
        """Return scenario.json. `note` says what was done to texts."""
        details = self._run.details
        data = details.data.known
        return {
            "name": self.group,
            "description": f"{details.display_name}. Data: {data}. Scored by {details.scoring} rules. "
            f"Written by Intramural. {note}",
            "tags": [details.category, details.access, data],
            "definition_path": "",
        }

    def folder_name(self) -> str:
        """Return the run's name as HELM would have made it, fit to be a folder's."""
        run = self._run
        pairs = [f"{k}={self.deployment if k == 'model_deployment' else v}" for k, v in pairs_of_run_spec(run.name)]
        whole = name_of_run_spec(run.name) + ":" + ",".join(pairs) if pairs else run.name
        plain = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in whole).lstrip(".")
        if len(plain.encode()) > LONGEST_FOLDER_NAME:
            digest = hashlib.sha256(whole.encode()).hexdigest()[:12]
            plain = plain.encode()[: LONGEST_FOLDER_NAME - 13].decode(errors="ignore") + "-" + digest
        return plain or "run"


def _helm_key(key: str, helm_name: str) -> str:
    """Return HELM's name for a metric's key; under `--scoring both`, HELM's own rule is told apart as here."""
    return helm_name + HELM_TWIN if key.endswith(HELM_TWIN) and not helm_name.endswith(HELM_TWIN) else helm_name


def _metric_specs(group: str, metrics: Sequence[KeptMetric], helm_names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The classes that know the metrics' names. None is run again: an automatic schema only reads their names."""
    basic, classes = [], set()
    for metric in metrics:
        name = helm_names[metric.name]
        prefix = next((prefix for prefix in _METRIC_CLASSES if name.startswith(prefix)), None)
        if metric.jury is not None or metric.name == "jury_score":
            yield jury_metric(metric, name, group)
        elif prefix is not None:
            classes.add(f"helm.benchmark.metrics.{_METRIC_CLASSES[prefix]}")
        else:
            basic.append(name)
    yield from ({"class_name": name, "args": {}} for name in sorted(classes))
    yield {"class_name": "helm.benchmark.metrics.basic_metrics.BasicGenerationMetric", "args": {"names": basic}}
    yield {"class_name": "helm.benchmark.metrics.basic_metrics.InstancesPerSplitMetric", "args": {}}
