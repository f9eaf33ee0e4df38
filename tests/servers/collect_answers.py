"""Collect the answers of real small language models to questions of shipped samples.

    python -m tests.servers.collect_answers --model NAME --weights FILE.gguf --out FILE.jsonl [-m N] [--threads N]
        [--chat-template FILE.jinja] [BENCHMARK ...]

llama.cpp (extra `llamacpp`) serves the weights on this machine; nothing is downloaded. One line an answer: the model,
the benchmark and id of the question, what its reader is shown beside it, the answer and how it ended. Another number of
slots or threads gives slightly different answers.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agent.site.directory import Site
from agent.store.stored import StoredInstance

BENCHMARKS = ("pubmed_qa", "med_qa", "head_qa", "medcalc_bench", "medec")
SUITE = "collected"
# A note of 768 tokens takes minutes on one busy core.
_PATIENCE = "first_attempt_timeout_s: 900\nattempt_timeout_s: 900\ntotal_timeout_s: 1200\n"


def main() -> None:
    """Serve the model, ask it every benchmark's questions, and write its answers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("benchmarks", nargs="*", default=BENCHMARKS)
    parser.add_argument("--model", required=True, help="the model's name, as organization/name")
    parser.add_argument("--weights", required=True, type=Path, help="a GGUF file")
    parser.add_argument("--out", required=True, type=Path, help="the new file of answers")
    parser.add_argument("-m", "--instances", type=int, default=40, help="questions a benchmark")
    parser.add_argument("--threads", type=int, default=2, help="no more than there are free cores")
    parser.add_argument("--chat-template", type=Path, help="for weights without one: a Jinja file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        _run_agent("init", str(site), "--site-name", "Collecting")
        with (site / "site.yaml").open("a", encoding="utf-8") as settings:
            settings.write(_PATIENCE)
        _write_deployment(site, arguments)
        _ask(site, arguments.model, arguments.benchmarks, arguments.instances)
        with arguments.out.open("x", encoding="utf-8") as out:
            for row in _read_rows(site, arguments.model):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_deployment(site: Path, arguments: argparse.Namespace) -> None:
    server = {
        "engine": "llamacpp",
        "weights": str(arguments.weights.absolute()),
        "context": 4096,
        "parallel": 4,
        "threads": arguments.threads,
    }
    if arguments.chat_template is not None:
        server["chat_template"] = str(arguments.chat_template.absolute())
    deployment = {
        "name": "collected/model",
        "model_name": arguments.model,
        "model_server": server,
    }
    text = json.dumps({"model_deployments": [deployment]})  # JSON is YAML
    (site / "model_deployments.yaml").write_text(text, "utf-8")


def _ask(site: Path, model: str, benchmarks: Sequence[str], instances: int) -> None:
    entries = [f"{benchmark}:model={model}" for benchmark in benchmarks]
    sizes = ("-m", str(instances), "--suite", SUITE)
    serving = ("--serve", "collected/model")
    words = ("--site", str(site), "run", *sizes, *serving, "--run-entries", *entries)
    # A question that took too long on a slow machine leaves the others' answers to write.
    _run_agent(*words, is_required=False)


def _run_agent(*words: str, is_required: bool = True) -> None:
    subprocess.run([sys.executable, "-m", "agent", *words], check=is_required)


def _read_rows(site: Path, model: str) -> Iterator[dict[str, Any]]:
    with Site(site).store() as store:
        for run in store.runs.select(SUITE):
            for stored in store.answers.read_each_instance(run.run_id):
                if stored.response is not None:
                    yield _describe(run.benchmark, model, stored)


def _describe(benchmark: str, model: str, stored: StoredInstance) -> dict[str, Any]:
    """Return one line of the file: an answer, and what its reader is shown."""
    assert stored.instance is not None
    assert stored.response is not None
    return {
        "model": model,
        "question_id": f"{benchmark}:{stored.instance.id}",
        "prompt": stored.instance.messages[-1].content,
        "references": [reference.text for reference in stored.instance.references],
        "answer": stored.response.text,
        "finish_reason": stored.response.finish_reason,
    }


if __name__ == "__main__":
    main()
