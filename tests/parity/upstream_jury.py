"""Run by HELM's own interpreter: what HELM's own jury makes of judges' replies that a file lists.

usage: upstream_jury.py CASES.json SCORES.json

The annotators, their criteria, the reading of replies and the metric are HELM's; only the client, which would ask
models, gives the listed replies.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.annotation.aci_bench_annotator import ACIBenchAnnotator
from helm.benchmark.annotation.model_as_judge import AnnotatorModelInfo, LLMAsJuryAnnotator
from helm.benchmark.metrics.llm_jury_metrics import LLMJuryMetric
from helm.benchmark.run_specs.medhelm.benchmark_config import BenchmarkConfig
from helm.benchmark.run_specs.medhelm_run_specs import get_annotator_models_from_config
from helm.benchmark.scenarios.scenario import Input, Instance
from helm.common.request import GeneratedOutput, Request, RequestResult


class Scripted:
    """A client whose models have said what they say."""

    def __init__(self, replies):
        self._replies = replies

    def make_request(self, request):
        reply = self._replies.get(request.model_deployment)
        completions = [] if reply is None else [GeneratedOutput(reply, 0.0, [])]
        return RequestResult(reply is not None, [], completions, cached=False, error="down")


def score(case, answer, replies):
    models = {name: AnnotatorModelInfo(f"model/{name}", name) for name in case["judges"]}
    client = Scripted(dict(zip(case["judges"], replies, strict=True)))
    if case["prompt"]:
        criteria = BenchmarkConfig._get_annotation_criteria(None, case["prompt"])
        annotator = LLMAsJuryAnnotator("jury", client, case["prompt"], criteria, models)
        metric = LLMJuryMetric("jury_score", "jury", models)
    else:
        annotator = ACIBenchAnnotator(client, models)
        metric = LLMJuryMetric("jury_score", "jury", models, default_score=1.0)
    state = RequestState(
        instance=Instance(Input(text="What helps?"), [], "test", id="1"),
        reference_index=None,
        request_mode=None,
        train_trial_index=0,
        output_mapping=None,
        request=Request(model="any/model", model_deployment="any_model"),
        result=RequestResult(True, [], [GeneratedOutput(answer, 0.0, [])], cached=False),
        num_train_instances=0,
        prompt_truncated=False,
        annotations=None,
    )
    annotated = SimpleNamespace(annotations={"jury": annotator.annotate(state)})
    (stat,) = metric.evaluate_generation(AdapterSpec(), annotated, None, "")
    return stat.mean


def stops(case, answer, replies, i):
    """Tell whether this reply alone stops the run."""
    alone = [reply if i == k else None for k, reply in enumerate(replies)]
    try:
        score(case, answer, alone)
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError):
        return True
    return False


def scores(case):
    given = []
    for answer, replies in case["asked"]:
        stopping = [i for i in range(len(replies)) if stops(case, answer, replies, i)]
        rest = [None if i in stopping else reply for i, reply in enumerate(replies)]
        given.append({"score": score(case, answer, rest), "stopping": stopping})
    return given


def main():
    cases, target = json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2])
    own = next(case["prompt"] for case in cases.values() if case["prompt"])
    found = {
        "scores": {name: scores(case) for name, case in cases.items()},
        "criteria": BenchmarkConfig._get_annotation_criteria(None, own),
        "judges": {
            name: [info.model_name, info.model_deployment]
            for name, info in get_annotator_models_from_config(sys.argv[3]).items()
        },
    }
    target.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
