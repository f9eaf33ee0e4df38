"""A small definition as a site writes one, and what is said of a wrong one."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.errors import BenchmarkError


def definition(tmp_path: Path, text: str, prompt: str = "{note}") -> Path:
    (tmp_path / "prompt.txt").write_text(prompt, encoding="utf-8")
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


JUDGE_PROMPT = '{QUESTION} {RESPONSE} <rubric_criteria>{"a": ["score"]}</rubric_criteria>'


GOOD = """name: own
description: ours
prompt_file: prompt.txt
dataset_file: data.csv
metrics:
  - name: exact_match
"""


def refused(path: Path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        load_benchmark(path)
    assert str(path) in str(caught.value)
    return str(caught.value)
