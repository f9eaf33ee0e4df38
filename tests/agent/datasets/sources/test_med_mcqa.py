"""MedMCQA: the copy that counts options from 0 is not the authors'."""

import json
import re

from tests.agent.datasets.sources.public import BENCHMARKS, load, problem


def test_the_copy_of_medmcqa_that_counts_from_zero_is_refused_by_name(tmp_path):
    lines = (BENCHMARKS / "med_mcqa/sample/dev.json").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    path = tmp_path / "dev.json"
    path.write_text("\n".join(json.dumps({**row, "cop": row["cop"] - 1}) for row in rows))
    message = problem("med_mcqa", path)
    assert re.search(
        r"dev\.json: line \d+: the column 'cop' is 0, .*Hugging Face.*counts from 1", message
    )
    assert len(load("med_mcqa", BENCHMARKS / "med_mcqa/sample/dev.json")) == len(rows)
