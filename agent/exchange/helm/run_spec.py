"""Convert one of our runs to HELM's run_spec.json and scenario.json. Only the settings named here are written."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.catalog.benchmark import Benchmark
from agent.exchange.helm.juries import describe_jury_metric, name_judges
from agent.exchange.helm.names import list_run_arguments, read_scenario_name
from agent.scoring.measures import HELM_TWIN
from agent.store import KeptMetric, Run, RunOrigin

MAX_FOLDER_NAME_LENGTH = 200  # bytes; file systems allow 255
SPLITS = {
    "helm.benchmark.scenarios.med_mcqa_scenario.MedMCQAScenario": "valid"
}  # HELM uses "test" for all other scenarios
# Arguments accepted by HELM's scenarios; ours may accept more.
_HELM_ARGUMENTS = frozenset(
    {"category", "condition", "language", "max_length", "subject", "subset", "version"}
)
# Classes that list HELM's metrics by name, so that an automatically generated schema includes them.
_METRIC_CLASSES = {
    "medcalc_bench_": "medcalc_bench_metrics.MedCalcBenchMetric",
    "medec_": "medec_metrics.MedecMetric",
    "ehr_sql_": "ehr_sql_metrics.EhrSqlMetric",
    "mimiciv_billing_code_": "mimiciv_billing_code_metrics.MIMICIVBillingCodeMetric",
    "classification_": "classification_metrics.MultipleChoiceClassificationMetric",
}


class HelmSpec:
    """The settings of a run as written in HELM's files.

    Args:
        run: the run in our store.
        benchmark: the definition of its benchmark, if the catalogue has it.
        deployment: the deployment's name as shown in exports.
    """

    def __init__(self, run: Run, benchmark: Benchmark | None, deployment: str) -> None:
        self._run = run
        self._benchmark = benchmark
        self.deployment = deployment
        origin = run.details.origin or RunOrigin()
        class_name = re.sub(r"[^A-Za-z0-9_]", "_", run.benchmark)
        scenario_of_benchmark = benchmark.helm_scenario if benchmark else ""
        self.scenario = (
            scenario_of_benchmark or origin.scenario or f"intramural.benchmarks.{class_name}"
        )
        groups = (benchmark.helm_groups if benchmark else ()) or origin.groups or (run.benchmark,)
        self.group: str = groups[-1]  # HELM's other groups, listed first, cover several benchmarks
        self.split = SPLITS.get(self.scenario, "test")
        self.helm_names = {metric.name: _find_helm_name(metric) for metric in run.details.metrics}
        self.judges = {  # judges' names in annotations, by metric; the @helm variant of a metric has the same jury
            metric.name: name_judges(metric)
            for metric in run.details.metrics
            if metric.jury is not None and not metric.name.endswith(HELM_TWIN)
        }

    def run_spec(self, name: str, *, multiple_choice: bool) -> dict[str, Any]:
        """Return run_spec.json."""
        return {
            "name": name,
            "scenario_spec": {"class_name": self.scenario, "args": self._make_scenario_args()},
            "adapter_spec": self.adapter_spec(multiple_choice=multiple_choice),
            "metric_specs": list(
                _describe_metrics(self.group, self._run.details.metrics, self.helm_names)
            ),
            "data_augmenter_spec": {},
            "groups": [self.group],
        }

    def _make_scenario_args(self) -> dict[str, str]:
        if self._benchmark is None or not self._benchmark.helm_scenario:
            return {}
        keys = _HELM_ARGUMENTS & self._benchmark.arguments.keys()
        args = {key: value for key, value in list_run_arguments(self._run.name) if key in keys}
        if self._benchmark.access != "public":
            args["data_path"] = (
                "-"  # these HELM scenarios require a path; the site's own path is not shown
            )
        return args

    def adapter_spec(self, *, multiple_choice: bool) -> dict[str, Any]:
        """Return the settings with which the model was asked."""
        details = self._run.details
        method = "multiple_choice_joint" if multiple_choice else "generation"
        # HELM puts runs with equal settings into one row, and has no setting for these ways of asking.
        if details.answer_mode != "generate":
            method = f"{method}_{details.answer_mode}"
        spec: dict[str, Any] = {
            "method": method,
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
        }
        if details.temperature is not None:
            spec["temperature"] = details.temperature
        if details.max_tokens is not None:
            spec["max_tokens"] = details.max_tokens
        return spec

    def scenario_json(self, note: str) -> dict[str, Any]:
        """Return scenario.json. `note` describes how the texts are shown."""
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
        """Return the run's name in HELM's form, usable as a folder name."""
        run = self._run
        arguments = []
        for key, value in list_run_arguments(run.name):
            shown = self.deployment if key == "model_deployment" else value
            arguments.append(f"{key}={shown}")
        name = run.name
        if arguments:
            name = f"{read_scenario_name(run.name)}:{','.join(arguments)}"
        folder_name = "".join(map(_replace_if_unfit, name)).lstrip(".")
        if len(folder_name.encode()) > MAX_FOLDER_NAME_LENGTH:
            suffix = "-" + hashlib.sha256(name.encode()).hexdigest()[:12]
            shortened = folder_name.encode()[: MAX_FOLDER_NAME_LENGTH - len(suffix)]
            folder_name = shortened.decode(errors="ignore") + suffix
        return folder_name or "run"


def _replace_if_unfit(character: str) -> str:
    """Return the character, or an underscore if a folder name cannot contain it."""
    if character.isprintable() and character not in "/\\":
        return character
    return "_"


def _find_helm_name(metric: KeptMetric) -> str:
    """Return HELM's name for a metric. With `--scoring both`, HELM's variant of a metric has the suffix `@helm`."""
    helm_name = metric.helm_name or metric.name
    if metric.name.endswith(HELM_TWIN) and not helm_name.endswith(HELM_TWIN):
        return helm_name + HELM_TWIN
    return helm_name


def _describe_metrics(
    group: str, metrics: Sequence[KeptMetric], helm_names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the classes of the metrics. HELM only reads the metrics' names from them, to generate a schema."""
    basic_names: list[str] = []
    classes: set[str] = set()
    for metric in metrics:
        name = helm_names[metric.name]
        prefix = next((prefix for prefix in _METRIC_CLASSES if name.startswith(prefix)), None)
        if metric.jury is not None or metric.name == "jury_score":
            yield describe_jury_metric(metric, name, group)
        elif prefix is not None:
            classes.add(f"helm.benchmark.metrics.{_METRIC_CLASSES[prefix]}")
        else:
            basic_names.append(name)
    for class_name in sorted(classes):
        yield {"class_name": class_name, "args": {}}
    yield {
        "class_name": "helm.benchmark.metrics.basic_metrics.BasicGenerationMetric",
        "args": {"names": basic_names},
    }
    yield {"class_name": "helm.benchmark.metrics.basic_metrics.InstancesPerSplitMetric", "args": {}}
