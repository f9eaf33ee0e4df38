"""The gated and private benchmarks, loaded from their samples or from files that a test wrote."""

import csv
import gzip
import io
import shutil
from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from agent.io.packaged import shipped
from tests.agent.datasets.own import CANARY

SHC = [
    f"shc_{name}_med"
    for name in ("ptbm", "sei", "conf", "proxy", "privacy", "bmt", "gip", "sequoia", "cdi", "ent")
]
GATED = [
    "ehrshot",
    "medalign",
    "dischargeme",
    "mimic_bhc",
    "mimic_rrs",
    "n2c2_ct_matching",
    "mimiciv_billing_code",
]
PRIVATE = ["clear", "chw_care_plan", "starr_patient_instructions", "mental_health", *SHC]
BENCHMARKS = {name: load_benchmark(shipped("benchmarks") / name) for name in (*GATED, *PRIVATE)}


def load(id_: str, data: Path | None = None, **given: str):
    benchmark = BENCHMARKS[id_]
    passed = given | ({"data_path": str(data)} if data else {})
    return load_instances(benchmark, locate_dataset(benchmark, None, passed))


def problem(id_: str, data: Path, **given: str) -> str:
    with pytest.raises(BenchmarkError) as caught:
        load(id_, data, **given)
    assert CANARY not in str(caught.value)
    return str(caught.value)


def gold(instance) -> str:
    return next(reference.text for reference in instance.references if reference.correct)


def prompt(instance) -> str:
    return instance.messages[-1].content


def sample_copy(id_: str, tmp_path: Path) -> Path:
    """Return a copy of the sample that a test may spoil: a folder, or a file."""
    benchmark = BENCHMARKS[id_]
    source, target = benchmark.folder / benchmark.sample.name, tmp_path / "site"
    if benchmark.sample_is_folder:
        return Path(shutil.copytree(source, target))
    target.mkdir()
    return Path(shutil.copy(source, target / benchmark.sample.name))


def write_csv(path: Path, header: list[str], *rows: list[str]) -> Path:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    data = out.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
