"""Run by HELM's own interpreter: what HELM's own metrics give for instances and answers that a file lists.

usage: upstream.py CASES.json SCORES.json

Metrics and adapter come from HELM's run specs; instances and request states are HELM's own objects. Left out is what
needs a model, a tokenizer or a download and scores no answer: efficiency, language-model and jury metrics, and the
downloaded tables of human grades.
"""

import inspect
import json
import os
import shutil
import sys
import tempfile
import types
from dataclasses import replace
from pathlib import Path

from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.annotation.ehr_sql_annotator import EhrSqlAnnotator
from helm.benchmark.metrics.classification_metrics import (
    ClassificationMetric,
    MultipleChoiceClassificationMetric,
)
from helm.benchmark.metrics.evaluate_reference_metrics import (
    compute_reference_metrics,
    get_rouge_function,
)
from helm.benchmark.metrics.metric import create_metric
from helm.benchmark.run_spec import discover_run_spec_functions, get_run_spec_function
from helm.benchmark.runner import set_benchmark_output_path
from helm.benchmark.scenarios.scenario import CORRECT_TAG, Input, Instance, Output, Reference
from helm.common.request import GeneratedOutput, Request, RequestResult

LEFT_OUT = ("BasicReferenceMetric", "InstancesPerSplitMetric", "LLMJuryMetric")


class NoTable(dict):
    """Stands for a table of human grades that holds none of our answers."""

    def __missing__(self, key):
        raise KeyError(key)


def run_spec(name, arguments):
    function = get_run_spec_function(name)
    wanted = inspect.signature(function).parameters
    required = {key for key, parameter in wanted.items() if parameter.default is parameter.empty}
    return function(**{key: arguments.get(key, "any") for key in required})


def summarization_metric():
    sys.modules.setdefault(
        "bert_score", types.SimpleNamespace(BERTScorer=None)
    )  # used on a GPU only
    from helm.benchmark.metrics.summarization_metrics import SummarizationMetric

    metric = object.__new__(SummarizationMetric)  # its constructor downloads
    metric.rouge_fns = {
        f"rouge_{kind}": get_rouge_function(f"rouge{kind.upper()}") for kind in ("1", "2", "l")
    }
    metric.data_stats_metric = types.SimpleNamespace(
        evaluate_example=lambda answer, text: {"coverage": 0.0, "density": 0.0, "compression": 0.0}
    )
    metric.task, metric.humaneval, metric.qa_fact_eval = "", NoTable(), NoTable(any_model=NoTable())
    metric.compute_faithfulness = metric.compute_bertscore = False
    return metric


def request_state(asked, answer, adapter_spec):
    references = [
        Reference(Output(text=r["text"]), [CORRECT_TAG] if r["correct"] else [])
        for r in asked["references"]
    ]
    letters = {chr(ord("A") + i): reference.output.text for i, reference in enumerate(references)}
    return RequestState(
        instance=Instance(
            Input(text=""), references, "test", id=asked["id"], extra_data=asked["extra"]
        ),
        reference_index=None,
        request_mode=None,
        train_trial_index=0,
        output_mapping=letters if adapter_spec.method == "multiple_choice_joint" else None,
        request=Request(model="any/model", model_deployment="any_model"),
        result=RequestResult(True, [], [GeneratedOutput(answer, 0.0, [])], cached=False),
        num_train_instances=0,
        prompt_truncated=False,
    )


def evaluator(spec, adapter_spec):
    """Return what gives the statistics of one request state."""
    name = spec.class_name.rpartition(".")[2]
    if name in LEFT_OUT:
        return None
    if name == "BasicGenerationMetric":
        names = spec.args["names"]
        return lambda state: compute_reference_metrics(names, adapter_spec, state, None)
    metric = summarization_metric() if name == "SummarizationMetric" else create_metric(spec)
    return lambda state: metric.evaluate_generation(adapter_spec, state, None, "")


def with_result_of_queries(states, asked, folder):
    """Run the queries as HELM's annotator does, on a copy of the database."""
    target = Path(folder, "scenarios", "ehr_sql", "eicu.sqlite")
    target.parent.mkdir(parents=True, exist_ok=True)
    annotator, annotated, copied = EhrSqlAnnotator(), [], None
    for state, one in zip(states, asked, strict=True):
        if one["database"] != copied:
            copied = one["database"]
            shutil.copyfile(copied, target)
        annotated.append(replace(state, annotations={"ehr_sql": annotator.annotate(state)}))
    return annotated


def scores(case, folder):
    spec = run_spec(case["run_spec"], case["arguments"])
    adapter_spec = spec.adapter_spec
    asked = [case["instances"][index] for index, _ in case["answers"]]
    states = [
        request_state(one, answer, adapter_spec)
        for one, (_, answer) in zip(asked, case["answers"], strict=True)
    ]
    if case["run_spec"] == "ehr_sql":
        states = with_result_of_queries(states, asked, folder)
    evaluators = [
        found for metric in spec.metric_specs if (found := evaluator(metric, adapter_spec))
    ]
    if case["words"]:  # not in any MedHELM run spec, yet a benchmark of one's own may name it
        evaluators.append(
            lambda state: compute_reference_metrics(["f1_score"], adapter_spec, state, None)
        )
    given = []
    for state in states:
        stats = [stat for evaluate in evaluators for stat in evaluate(state)]
        given.append({stat.name.name: stat.mean for stat in stats})
    return {
        "scores": given,
        "figures": figures(case, states),
        "figures_of_sets": [
            figures_of_sets(label_sets, adapter_spec) for label_sets in case["label_sets"]
        ],
        "method": adapter_spec.method,
    }


def figures(case, states):
    """Return the classification figures of the whole run."""
    one_class = all(
        sum(reference.is_correct for reference in state.instance.references) == 1
        for state in states
    )
    if not (case["classes"] and one_class):
        return {}
    metric = (
        MultipleChoiceClassificationMetric() if states[0].output_mapping else ClassificationMetric()
    )
    return {stat.name.name: stat.mean for stat in metric.evaluate_instances(states, "")}


def figures_of_sets(label_sets, adapter_spec):
    """Return the classification figures of answers that are sets of labels with commas between them."""
    asked = [
        {"id": "1", "references": [{"text": g, "correct": True} for g in golds], "extra": None}
        for golds, _ in label_sets
    ]
    free = replace(adapter_spec, method="generation")
    states = [
        request_state(one, answer, free) for one, (_, answer) in zip(asked, label_sets, strict=True)
    ]
    metric = ClassificationMetric(delimiter=",")
    return {stat.name.name: stat.mean for stat in metric.evaluate_instances(states, "")}


def main():
    cases, target = json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2])
    discover_run_spec_functions()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        set_benchmark_output_path(folder)
        target.write_text(
            json.dumps({name: scores(case, folder) for name, case in cases.items()}), "utf-8"
        )


if __name__ == "__main__":
    main()
