"""Code that is missing, changed or not what was reviewed never runs."""

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import BenchmarkError
from agent.own_metrics.process import declare
from agent.own_metrics.source import MetricSource, read_approved_code, read_code
from tests.agent.own_metrics.metrics import HEADER, SIGNATURE, approve, write_metric


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that offers a metric from two modules."""
    folder = tmp_path / "installed"
    code = folder / "ward_metrics"
    code.mkdir(parents=True)
    (code / "__init__.py").write_text("")
    (code / "limits.py").write_text("BEST = 1\n")
    (code / "dose.py").write_text(
        "from ward_metrics.limits import BEST\n"
        + HEADER.format(name="dose")
        + SIGNATURE
        + "    return BEST\n"
    )
    info = folder / "ward_metrics-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ward-metrics\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[intramural.metrics]\ndose = ward_metrics.dose\nobject = ward_metrics.dose:score\n"
        "json = json\ngone = gone_away\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    return code


def test_the_digest_of_a_file_is_that_of_sha256sum(tmp_path: Path):
    path = write_metric(tmp_path, "return 1")
    assert read_approved_code(approve(path)).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_changed_file_is_refused_with_both_digests_and_what_to_do(tmp_path: Path):
    path = write_metric(tmp_path, "return 1")
    source = approve(path)
    path.write_text(path.read_text() + "# changed\n")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(BenchmarkError) as refused:
        read_approved_code(source)
    assert str(refused.value) == (
        "own/test: plugins/test.py is not the code that site.yaml enables: its sha256 is "
        f"{found}, expected {source.sha256}"
    )
    assert f"set its sha256 to {found} under `plugins` in site.yaml" in refused.value.advice


def test_a_missing_file_is_refused_by_its_path(tmp_path: Path):
    source = MetricSource("gone", "0" * 64, tmp_path / "gone.py", "plugins/gone.py")
    with pytest.raises(BenchmarkError, match=r"own/gone: file plugins/gone.py is missing"):
        read_approved_code(source)


def test_a_package_is_imported_from_a_copy_and_every_file_of_it_counts(package: Path):
    source = MetricSource("dose", "0" * 64, None, "dose")
    code = read_code(source)
    assert [file.path for file in code.files] == [
        "ward_metrics/__init__.py",
        "ward_metrics/dose.py",
        "ward_metrics/limits.py",
    ]
    approved = replace(source, sha256=code.sha256)
    assert declare(read_approved_code(approved)).high == 1
    assert "ward_metrics" not in sys.modules
    # A compiled file is neither part of the digest nor imported.
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "limits.cpython-311.pyc").write_bytes(b"planted")
    assert read_approved_code(approved) == code
    (package / "limits.py").write_text("BEST = 0\n")
    with pytest.raises(BenchmarkError, match="dose is not the code"):
        read_approved_code(approved)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent", "is not installed"),
        ("object", "must name a module"),
        ("gone", "names the module gone_away, which is not installed"),
    ],
)
@pytest.mark.usefixtures("package")
def test_an_entry_point_that_names_no_module_is_refused(name: str, words: str):
    with pytest.raises(BenchmarkError, match=words):
        read_code(MetricSource(name, "0" * 64, None, name))


def test_a_metric_with_the_name_of_a_module_does_not_replace_it(tmp_path: Path):
    path = write_metric(tmp_path, "import json\nreturn json.loads('1')", name="json")
    assert declare(read_approved_code(approve(path))).low == 0
