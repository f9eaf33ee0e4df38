"""An output folder as helm-run and helm-summarize leave it, with an identifier in every place that can hold one.

Identifiers of texts that are shown redacted are ones that a redactor can know; those of places that are never shown
are words that nothing but leaving them out removes.
"""

import json
import pickle
import sqlite3
from pathlib import Path
from typing import Any

SUITE = "november"
RUN = (
    "ward_notes:data_path=_home_qcanary01_data,patient=Anna_Kowalski,model=openai_gpt-4o-2024-05-13"
)
PATIENT, MRN, PHONE = "Anna Kowalski", "00451234", "617-555-0143"
RECORD = f"Patient: {PATIENT}, MRN: {MRN}, seen on 03/14/2022 at St. Mary's Hospital, call {PHONE}."
PLANTED = ("Kowalski", "KOWALSKI", "kowalski", MRN, PHONE, "03/14/2022", "St. Mary", "qcanary")
_canaries = 1


def canary() -> str:
    """Return a word that is nowhere else."""
    global _canaries
    _canaries += 1
    return f"qcanary{_canaries:02}"


def adapter() -> dict[str, Any]:
    return {
        "method": "generation",
        "instructions": f"You help Dr. {PATIENT} with her notes.\n",
        "input_prefix": "Note: ",
        "output_prefix": "Answer: ",
        "max_train_instances": 0,
        "num_outputs": 1,
        "num_train_trials": 1,
        "model_deployment": "openai/gpt-4o-2024-05-13",
        "model": "openai/gpt-4o-2024-05-13",
        "temperature": 0.0,
        "max_tokens": 8,
        "stop_sequences": [f"signed by {PATIENT}", "\n"],
        "site_field": canary(),
    }


def instance(number: int) -> dict[str, Any]:
    return {
        "input": {"text": RECORD, "messages": [{"role": "user", "content": canary()}]},
        "references": [
            {"output": {"text": f"{PATIENT} {canary()}"}, "tags": ["correct", canary()]}
        ],
        "split": "test",
        "sub_split": f"mrn_{MRN}",
        "id": f"MRN{MRN}-{number}",
        "perturbation": {"name": "typos", "robustness": True, "prob": 0.1, "mapping": canary()},
        "contrast_inputs": [{"text": canary()}],
        "contrast_references": [[{"output": {"text": canary()}, "tags": []}]],
        "extra_data": {"value": canary(), "rows": [[PATIENT, MRN]]},
    }


def request() -> dict[str, Any]:
    return {
        "model_deployment": "openai/gpt-4o-2024-05-13",
        "model": "openai/gpt-4o-2024-05-13",
        "embedding": False,
        "prompt": RECORD,
        "messages": [{"role": "user", "content": f"{RECORD} {canary()}"}],
        "multimodal_prompt": {"media_objects": [{"content_type": "text/plain", "text": canary()}]},
        "temperature": 0.0,
        "stop_sequences": [],
        "response_format": {"json_schema": {"title": canary()}},
    }


def notes() -> dict[str, Any]:
    """Annotations of a jury and of a database."""
    return {
        "ward_notes": {
            "prompt_text": f"{RECORD} {canary()}",
            "gpt": {
                "accuracy": {
                    "score": 4,
                    "explanation": canary(),
                    "quote": f"Ms. Kowalski, MRN {MRN}",
                },
                f"of {PATIENT}": {"score": 3},
            },
        },
        "ehr_sql": {
            "rows": [[451234, PATIENT, 1957, True]],
            "query_error": f"no such column: {PATIENT}",
        },
        "raw": json.dumps({"quote": f"{PATIENT}, born 03/14/2022"}),
    }


def request_state(number: int) -> dict[str, Any]:
    return {
        "instance": instance(number),
        "train_trial_index": 0,
        "output_mapping": {"A": f"{PATIENT} {canary()}", canary(): "no"},
        "request": request(),
        "result": {
            "success": False,
            "embedding": [0.25],
            "completions": [
                {
                    "text": f"Yes: Kowalski (MRN {MRN}) may go home. Call {PHONE}.",
                    "logprob": -1.5,
                    "tokens": [{"text": "Kowalski", "logprob": -1.5}],
                    "finish_reason": {"reason": "stop", "detail": canary()},
                    "thinking": {"text": "Kowalski was seen on 03/14/2022."},
                    "multimodal_content": {
                        "media_objects": [{"content_type": "text/plain", "text": canary()}]
                    },
                }
            ],
            "cached": False,
            "request_time": 1.5,
            "request_datetime": 1795176992,
            "error": f"the server said: {RECORD} {canary()}",
        },
        "num_train_instances": 0,
        "prompt_truncated": False,
        "num_conditioning_tokens": 0,
        "annotations": notes(),
    }


def stat(name: str, value: float) -> dict[str, Any]:
    figures = dict.fromkeys(("sum", "min", "max", "mean"), value)
    return {
        "name": {"name": name, "split": "test"}, "count": 1, "sum_squared": value**2, "variance": 0, "stddev": 0
    } | figures  # fmt: skip


def run_spec() -> dict[str, Any]:
    return {
        "name": RUN,
        "scenario_spec": {
            "class_name": "helm.benchmark.scenarios.medhelm_configurable_scenario.MedHELMConfigurableScenario",
            "args": {"config_path": f"/home/{canary()}/ward.yaml", "subset": PATIENT},
        },
        "adapter_spec": adapter(),
        "metric_specs": [
            {
                "class_name": "helm.benchmark.metrics.basic_metrics.InstancesPerSplitMetric",
                "args": {},
            }
        ],
        "data_augmenter_spec": {"perturbation_specs": [], "should_augment_eval_instances": False},
        "groups": ["ward_notes", f"ward of {PATIENT}"],
        "annotators": [
            {"class_name": "hospital.judge.WardAnnotator", "args": {"template": canary()}}
        ],
    }


def table() -> dict[str, Any]:
    cells = [
        {"value": "GPT-4o (2024-05-13)"},
        {"value": 0.5, "run_spec_names": [RUN], "href": f"/srv/{canary()}"},
    ]
    return {
        "title": f"Notes of {PATIENT}",
        "header": [
            {"value": "Model"},
            {"value": "exact_match", "description": f"asked by Dr. {PATIENT}"},
        ],
        "rows": [cells],
        "links": [{"text": "LaTeX", "href": f"/srv/{canary()}/t.tex"}],
        "name": "accuracy",
    }


def planted(root: Path, instances: int = 3) -> Path:
    """Write HELM's output folder below `root` and return it."""
    output = root / "benchmark_output"
    suite = output / "runs" / SUITE
    states = [request_state(number) for number in range(instances)]
    keys = [{"instance_id": one["instance"]["id"], "train_trial_index": 0} for one in states]
    spec = run_spec()
    contents = {
        "run_spec.json": spec,
        "scenario.json": {
            "name": "ward_notes",
            "description": f"Notes of {PATIENT}, MRN: {MRN}.",
            "tags": ["biomedical"],
            "definition_path": f"/home/{canary()}/scenario.py",
        },
        "scenario_state.json": {
            "adapter_spec": adapter(),
            "request_states": states,
            "annotator_specs": spec["annotators"],
        },
        "stats.json": [stat("exact_match", 0.5), stat("inference_runtime", 1.5)],
        "per_instance_stats.json": [
            {**key, "stats": [stat("exact_match", 1.0), stat("inference_runtime", 1.5)]}
            for key in keys
        ],
        "instances.json": [one["instance"] for one in states],
        "display_predictions.json": [
            {
                **key,
                "predicted_text": one["result"]["completions"][0]["text"],
                "truncated_predicted_text": "Kowalski may go home.",
                "base64_images": [canary()],
                "mapped_output": f"{PATIENT} {canary()}",
                "stats": {"exact_match": 1.0, "inference_runtime": 1.5},
                "annotations": one["annotations"],
                "thinking_text": "Kowalski was seen on 03/14/2022.",
            }
            for key, one in zip(keys, states, strict=True)
        ],
        "display_requests.json": [
            {**key, "request": one["request"]} for key, one in zip(keys, states, strict=True)
        ],
        "notes.json": {"by": canary()},
    }
    for name, content in contents.items():
        put(suite / RUN / name, json.dumps(content, indent=2))
    put(
        suite / "runs.json",
        json.dumps([{"run_path": f"/srv/{canary()}/{RUN}", "run_spec": spec, "stats": []}]),
    )
    put(suite / "run_specs.json", json.dumps([spec]))
    put(suite / "runs_to_run_suites.json", json.dumps({RUN: SUITE}))
    put(suite / "groups.json", json.dumps([table()]))
    put(suite / "groups" / f"ward of {PATIENT}.json", json.dumps([table()]))
    put(suite / "groups" / "json" / "ward_notes_accuracy.json", json.dumps(table()))
    put(suite / "groups" / "latex" / "ward_notes_accuracy.tex", canary())
    put(
        suite / "schema.json",
        json.dumps({"run_groups": [{"name": "ward_notes", "description": f"of {PATIENT}"}]}),
    )
    put(
        suite / "summary.json", json.dumps({"suite": SUITE, "date": "2022-03-14", "host": canary()})
    )
    put(suite / "costs.json", json.dumps({"openai/gpt-4o-2024-05-13": {"num_prompt_tokens": 12}}))
    put(suite / "eval_cache" / "work.txt", canary())
    put(suite / "failed_run" / "traceback.txt", canary())
    put(output / "scenarios" / "ehrshot" / f"{canary()}.csv", RECORD)
    put(
        output / "scenario_instances" / f"ward:{canary()}" / "input_instances.json",
        json.dumps([instance(0)]),
    )
    put(output / "run.log", RECORD)
    put(output / "releases" / "v1" / "summary.json", canary())
    _caches(output / "prod_env" / "cache")
    (output / "runs" / "latest").symlink_to(suite)
    return output


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")


def _caches(folder: Path) -> None:
    folder.mkdir(parents=True)
    cache = sqlite3.connect(folder / "openai.sqlite")
    cache.execute("CREATE TABLE unnamed (key TEXT, value BLOB)")
    cache.execute("INSERT INTO unnamed VALUES (?, ?)", (RECORD, pickle.dumps({"text": RECORD})))
    cache.commit()
    cache.close()
