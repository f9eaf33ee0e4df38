"""A suite's runs as HELM's run folders, which helm-summarize and helm-server read.

    DIR/runs/<suite>/<run>/run_spec.json, scenario.json, scenario_state.json, stats.json, per_instance_stats.json
    DIR/model_metadata.yaml        names of the models, for `helm-summarize --local-path DIR`
    DIR/schema_intramural.yaml     every benchmark and metric, for `helm-summarize --schema-path`

Texts come through redaction's door; numbers and names of settings are taken one by one. Nothing else of the store is
written: no address, no path, no date, no seconds of a request.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.evaluation.measures import HELM_TWIN
from agent.evaluation.progress import Progress
from agent.evaluation.summarise import MetricSummary, RunSummary, summarise_run
from agent.exchange.cleared import cleared
from agent.exchange.each_metric import each_metric
from agent.exchange.helm_names import name_of_run_spec
from agent.redaction.clearing import ClearedCase, Clearer, open_clearer
from agent.site import Site
from agent.store import Run, Store
from agent.vocabulary import Response

PAGE = 200  # instances in memory at a time, and to an audit entry
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


@dataclass
class Stat:
    """One of HELM's statistics: values are added one at a time, a missing one never."""

    name: str
    split: str | None
    values: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as HELM writes it; without values there is a count of 0 and no mean."""
        count, total = len(self.values), math.fsum(self.values)
        squares = math.fsum(value * value for value in self.values)
        name = {"name": self.name} | ({} if self.split is None else {"split": self.split})
        found: dict[str, Any] = {"name": name, "count": count, "sum": total, "sum_squared": squares}
        if count:
            mean = total / count
            variance = math.fsum((value - mean) ** 2 for value in self.values) / count
            found |= {
                "min": min(self.values),
                "max": max(self.values),
                "mean": mean,
                "variance": variance,
                "stddev": math.sqrt(variance),
            }
        return found


def export_helm(site: Site, suite: str, folder: Path, *, reveal: bool, progress: Progress | None = None) -> int:
    """Write every run of the suite under `folder`; return how many instances were written.

    Texts are redacted under the site's policy and ids are keyed hashes; with `reveal` both are as they were, after an
    audit entry a page. Write into `agent.new_folder.new_folder`, so that a failure leaves nothing.
    """
    progress = progress or Progress()
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    with site.store() as store:
        clearer = open_clearer(site, store, reveal=reveal, purpose="export")
        runs = store.runs(suite)
        progress.begin("instances", sum(store.count_instances(run.run_id) for run in runs))
        written, taken, count = [], set[str](), 0
        for run in runs:
            export = _RunExport(store, run, catalogue.get(run.benchmark), clearer)
            name = _free_name(export.name, run.run_id, taken)
            target = folder / "runs" / suite / name
            target.mkdir(parents=True, mode=0o700)
            count += export.write(target, name, progress)
            written.append(export)
        progress.end()
    _write_json(folder / "model_metadata.yaml", _model_metadata({run.model for run in runs}))
    _write_json(folder / "schema_intramural.yaml", _schema(written))
    return count


class _RunExport:
    """One run on its way into a folder."""

    def __init__(self, store: Store, run: Run, benchmark: Benchmark | None, clearer: Clearer) -> None:
        self.run = run
        self.summary: RunSummary = summarise_run(store, run)
        self._store = store
        self._benchmark = benchmark
        self._clearer = clearer
        origin = run.details.get("origin") or {}
        self.scenario = (benchmark.helm_scenario if benchmark else "") or origin.get("scenario") or ""
        self.scenario = self.scenario or f"intramural.benchmarks.{re.sub(r'[^A-Za-z0-9_]', '_', run.benchmark)}"
        self.groups = list((benchmark.helm_groups if benchmark else ()) or origin.get("groups") or ()) or [
            run.benchmark
        ]
        self.split = SPLITS.get(self.scenario, "test")
        self.helm_names = {
            metric["name"]: _helm_key(metric["name"], metric.get("helm_name") or metric["name"])
            for metric in run.details["metrics"]
        }
        self.deployment = run.deployment if clearer.reveals else _deployment_label(store, run)
        self.name = _helm_run_name(run, self.deployment)
        self.multiple_choice = False

    def write(self, target: Path, name: str, progress: Progress) -> int:
        """Write the run's five files; return how many instances they hold."""
        stats = {metric: Stat(helm, self.split) for metric, helm in self.helm_names.items()}
        counts = {name: Stat(name, self.split) for name in ("num_prompt_tokens", "num_completion_tokens")}
        instances = 0
        with (
            _array(target / "per_instance_stats.json") as per_instance,
            _array(target / "scenario_state.json", "request_states", lambda: {"adapter_spec": self._adapter_spec()}) as
            states,
        ):  # fmt: skip
            for stored, case in self._cases():
                instances += 1
                own = [Stat(self.helm_names[m], self.split, [float(v)]) for m, v in _numbers(case, self.helm_names)]
                for metric, value in _numbers(case, self.helm_names):
                    stats[metric].values.append(float(value))
                if stored is not None:
                    for key, tokens in _tokens(stored):
                        counts[key].values.append(tokens)
                        own.append(Stat(key, self.split, [tokens]))
                identity = case.key if case.id is None else case.id
                per_instance.add(
                    {"instance_id": identity, "train_trial_index": 0, "stats": [stat.to_json() for stat in own]}
                )
                if case.prompt is not None:
                    states.add(self._request_state(case, identity))
                progress.advance()
        _write_json(target / "run_spec.json", self._run_spec(name))
        _write_json(target / "scenario.json", self._scenario())
        _write_json(
            target / "stats.json",
            [stat.to_json() for stat in (*self._metric_stats(stats), *counts.values())]
            + [Stat("num_instances", self.split, [float(instances)]).to_json()],
        )
        return instances

    def _cases(self) -> Iterator[tuple[Response | None, ClearedCase]]:
        run_id = self.run.run_id
        for offset in range(0, self._store.count_instances(run_id), PAGE):
            page = self._store.instances(run_id, offset, PAGE)
            for stored, case in zip(page, self._clearer.clear(run_id, page), strict=True):
                self.multiple_choice |= bool(stored.instance and stored.instance.multiple_choice)
                yield stored.response, case

    def _metric_stats(self, stats: Mapping[str, Stat]) -> Iterator[Stat]:
        """Every metric's statistic, and how many instances it leaves out."""
        for metric in each_metric(self.summary):
            stat = stats[metric.metric]
            if metric.whole_run and metric.mean.value is not None:
                stat.values.append(metric.mean.value)  # no single instance has one
            yield stat
            yield Stat(f"{stat.name}_unscored", self.split, [float(sum(metric.unscored.values()))])

    def _run_spec(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "scenario_spec": {"class_name": self.scenario, "args": self._scenario_args()},
            "adapter_spec": self._adapter_spec(),
            "metric_specs": list(_metric_specs(self.run.benchmark, self.run.details["metrics"], self.helm_names)),
            "data_augmenter_spec": {},
            "groups": self.groups,
        }

    def _scenario_args(self) -> dict[str, str]:
        if self._benchmark is None or not self._benchmark.helm_scenario:
            return {}
        known = _HELM_ARGUMENTS & self._benchmark.arguments.keys()
        given = {key: value for key, value in _pairs(self.run.name) if key in known}
        # HELM's scenarios of data that is not public want a path; ours stays here.
        return given if self._benchmark.access == "public" else given | {"data_path": "-"}

    def _adapter_spec(self) -> dict[str, Any]:
        details = self.run.details
        return {
            "method": "multiple_choice_joint" if self.multiple_choice else "generation",
            "input_prefix": "",
            "input_suffix": "",
            "output_prefix": "",
            "output_suffix": "",
            "instance_prefix": "",
            "max_train_instances": 0,
            "num_outputs": 1,
            "model_deployment": self.deployment,
            "model": self.run.model,
            "stop_sequences": list(details["stop"]),
            **({} if details["temperature"] is None else {"temperature": details["temperature"]}),
            **({} if details["max_tokens"] is None else {"max_tokens": details["max_tokens"]}),
        }

    def _scenario(self) -> dict[str, Any]:
        details = self.run.details
        data = details["data"]["known"]
        return {
            "name": self.groups[-1],
            "description": f"{details['display_name']}. Data: {data}. Scored by {details['scoring']} rules. "
            f"Written by Intramural. {self._clearer.note}",
            "tags": [details["category"], details["access"], data],
            "definition_path": "",
        }

    def _request_state(self, case: ClearedCase, identity: str) -> dict[str, Any]:
        assert case.prompt is not None
        prompt = [{"role": message.role, "content": cleared(message.text)} for message in case.prompt]
        references = [
            {"output": {"text": cleared(reference.text)}, "tags": ["correct"] if reference.correct else []}
            for reference in case.references or ()
        ]
        letters = {r.letter: cleared(r.text) for r in case.references or () if r.letter}
        alone = len(prompt) == 1 and prompt[0]["role"] == "user"
        adapter = self._adapter_spec()
        state: dict[str, Any] = {
            "instance": {
                "input": {"text": prompt[-1]["content"]},
                "references": references,
                "split": self.split,
                "id": identity,
            },
            "train_trial_index": 0,
            "request": {
                **{key: adapter[key] for key in ("model_deployment", "model")},
                **{key: adapter[key] for key in ("temperature", "max_tokens", "stop_sequences") if key in adapter},
                "embedding": False,
                "prompt": prompt[0]["content"] if alone else "",
                **({} if alone else {"messages": prompt}),
                "num_completions": 1,
                "top_k_per_token": 1,
                "echo_prompt": False,
                "top_p": 1,
                "presence_penalty": 0,
                "frequency_penalty": 0,
            },
            "num_train_instances": 0,
            "prompt_truncated": False,
        }
        if letters:
            state["output_mapping"] = letters
        if case.answer is not None:
            state["result"] = {"success": True, "embedding": [], "completions": [_completion(case)], "cached": False}
        return state


def _completion(case: ClearedCase) -> dict[str, Any]:
    assert case.answer is not None
    completion: dict[str, Any] = {
        "text": cleared(case.answer),
        "logprob": 0,
        "tokens": [],
        "finish_reason": {"reason": case.finish_reason},
    }
    if case.reasoning:
        completion["thinking"] = {"text": cleared(case.reasoning)}
    return completion


def _numbers(case: ClearedCase, metrics: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for metric, value in case.scores.items():
        if metric in metrics and isinstance(value, int | float):
            yield metric, value


def _tokens(response: Response) -> Iterator[tuple[str, float]]:
    if response.prompt_tokens is not None:
        yield "num_prompt_tokens", float(response.prompt_tokens)
    if response.completion_tokens is not None:
        yield "num_completion_tokens", float(response.completion_tokens)


def _helm_key(key: str, helm_name: str) -> str:
    """Return HELM's name for a metric's key; under `--scoring both`, HELM's own rule is told apart as here."""
    return helm_name + HELM_TWIN if key.endswith(HELM_TWIN) and not helm_name.endswith(HELM_TWIN) else helm_name


def _metric_specs(
    benchmark: str, metrics: Sequence[Mapping[str, Any]], helm_names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The classes that know the metrics' names. None is run again: an automatic schema only reads their names."""
    basic, classes = [], set()
    for metric in metrics:
        name = helm_names[metric["name"]]
        prefix = next((prefix for prefix in _METRIC_CLASSES if name.startswith(prefix)), None)
        if metric["name"] == "jury_score":
            args = {"metric_name": name, "scenario_name": benchmark, "annotator_models": {}}
            yield {"class_name": "helm.benchmark.metrics.llm_jury_metrics.LLMJuryMetric", "args": args}
        elif prefix is not None:
            classes.add(f"helm.benchmark.metrics.{_METRIC_CLASSES[prefix]}")
        else:
            basic.append(name)
    yield from ({"class_name": name, "args": {}} for name in sorted(classes))
    yield {"class_name": "helm.benchmark.metrics.basic_metrics.BasicGenerationMetric", "args": {"names": basic}}
    yield {"class_name": "helm.benchmark.metrics.basic_metrics.InstancesPerSplitMetric", "args": {}}


def _pairs(run_name: str) -> list[tuple[str, str]]:
    words = run_name.partition(":")[2].split(",")
    return [(key, value) for key, equals, value in (word.partition("=") for word in words) if equals]


def _deployment_label(store: Store, run: Run) -> str:
    """Name the deployment without its name, in which a site may have written a machine's."""
    if run.deployment == run.model:
        return run.model
    return f"deployment/{store.request_key(run.deployment, b'deployment label').hex()[:8]}"


def _helm_run_name(run: Run, deployment: str) -> str:
    """Return the run's name as HELM would have made it, fit to be a folder's."""
    pairs = [f"{k}={deployment if k == 'model_deployment' else v}" for k, v in _pairs(run.name)]
    whole = name_of_run_spec(run.name) + ":" + ",".join(pairs) if pairs else run.name
    plain = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in whole).lstrip(".")
    if len(plain.encode()) > LONGEST_FOLDER_NAME:
        digest = hashlib.sha256(whole.encode()).hexdigest()[:12]
        plain = plain.encode()[: LONGEST_FOLDER_NAME - 13].decode(errors="ignore") + "-" + digest
    return plain or "run"


def _free_name(name: str, run_id: str, taken: set[str]) -> str:
    """Return `name`, told apart where another run of the export has it."""
    free = name if name not in taken else f"{name}-{run_id[:8]}"
    taken.add(free)
    return free


def _model_metadata(models: set[str]) -> dict[str, Any]:
    return {
        "models": [
            {
                "name": model,
                "creator_organization_name": model.partition("/")[0],
                "display_name": model,
                "description": "Evaluated at this site.",
                "access": "limited",
                "tags": [],
            }
            for model in sorted(models)
        ]
    }


def _schema(exports: Sequence[_RunExport]) -> dict[str, Any]:
    """A schema with every benchmark, also those that HELM has no class for."""
    metrics: dict[str, MetricSummary] = {}
    groups: dict[str, dict[str, Any]] = {}
    for export in exports:
        for metric in each_metric(export.summary):
            metrics.setdefault(export.helm_names[metric.metric], metric)
        main = export.helm_names[export.summary.metrics[0].metric]
        details = export.run.details
        groups.setdefault(
            export.groups[-1],
            {
                "name": export.groups[-1],
                "display_name": details["display_name"],
                "description": f"{details['category']}. Data: {details['data']['known']}.",
                "metric_groups": ["main", "counted"],
                "environment": {"main_name": main, "main_split": export.split},
            },
        )
    return {
        "metrics": [
            {"name": name, "display_name": metric.display_name, "lower_is_better": False}
            for name, metric in metrics.items()
        ]
        + [{"name": f"{name}_unscored", "display_name": "Unscored", "lower_is_better": True} for name in metrics]
        + [
            {"name": "num_instances", "display_name": "Instances"},
            {"name": "num_prompt_tokens", "display_name": "Prompt tokens"},
            {"name": "num_completion_tokens", "display_name": "Completion tokens"},
        ],
        "metric_groups": [
            {
                "name": "main",
                "display_name": "Main metric",
                "metrics": [{"name": "${main_name}", "split": "${main_split}"}],
            },
            {
                "name": "counted",
                "display_name": "Counted",
                "hide_win_rates": True,
                "metrics": [
                    {"name": name, "split": "${main_split}"} for name in ("num_instances", "${main_name}_unscored")
                ],
            },
        ],
        "run_groups": [
            {
                "name": "intramural",
                "display_name": "All benchmarks",
                "description": "Every benchmark of this export",
                "category": "All benchmarks",
                "subgroups": list(groups),
            },
            *groups.values(),
        ],
    }


class _Items:
    """A JSON array that is written item by item."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._any = False

    def add(self, item: object) -> None:
        """Write one more item."""
        self._file.write((",\n" if self._any else "\n") + json.dumps(item, ensure_ascii=False, allow_nan=False))
        self._any = True


@contextmanager
def _array(path: Path, key: str = "", around: Any = None) -> Iterator[_Items]:
    """Open a new file that holds an array, or an object with one under `key` and what `around` gives at the end."""
    with _new_file(path) as file:
        file.write("[" if not key else f"{{{json.dumps(key)}: [")
        yield _Items(file)
        file.write("\n]\n")
        if key:
            whole = json.dumps(around(), ensure_ascii=False, allow_nan=False)
            file.write(f", {whole[1:-1]}}}\n")


def _write_json(path: Path, value: object) -> None:
    with _new_file(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def _new_file(path: Path) -> TextIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
