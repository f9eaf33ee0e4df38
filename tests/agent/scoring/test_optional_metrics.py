"""Benchmarks that name BERTScore as optional: a site without an encoder goes without it, and is told."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import BenchmarkError
from agent.site.directory import Site, create_site
from tests.agent.fault_server import FaultServer
from tests.agent.runs.suites import plan, write_benchmark

METRICS = "max_tokens: 8\nmetrics:\n  - name: rouge_l\n  - {{name: BERTScore-F{optional}}}\n"
ROWS = [{"note": "rest and fluids", "correct_answer": "rest and fluids"}]


def test_a_site_without_an_encoder_measures_the_rest_and_is_told_what_is_left_out(tmp_path: Path):
    site = create_site(tmp_path / "site", "h")
    write_benchmark(site, "notes", ROWS, METRICS.format(optional=", optional: true"))
    with FaultServer(models=["m"], answer="rest") as server:
        arguments = [
            "run",
            "--server",
            server.url,
            "-r",
            "notes:model=m",
            "--suite",
            "s",
            "--quiet",
        ]
        done = CliRunner().invoke(intramural, ["--site", str(site.directory), *arguments])
    assert done.exit_code == 0
    assert (
        "not measured: BERTScore-F of notes; they need an encoder, see bertscore_model"
        in done.stderr
    )
    assert "rouge_l" in done.stdout
    with site.store() as store:
        (run,) = store.runs.select("s")
    assert [metric.name for metric in run.details.metrics] == ["rouge_l"]
    assert run.details.left_out == ("BERTScore-F",)


def test_a_benchmark_that_insists_on_bertscore_is_refused_before_anything_is_asked(tmp_path: Path):
    site = create_site(tmp_path / "site", "h")
    write_benchmark(site, "notes", ROWS, METRICS.format(optional=""))
    with pytest.raises(BenchmarkError, match="notes: BERTScore needs"):
        plan(site, "notes:model=m")


def test_an_encoder_that_is_named_and_not_there_is_refused_even_where_it_is_optional(
    tmp_path: Path,
):
    site = create_site(tmp_path / "site", "h")
    (site.directory / "site.yaml").write_text("site_name: h\nbertscore_model: gone\n")
    write_benchmark(site, "notes", ROWS, METRICS.format(optional=", optional: true"))
    with pytest.raises(BenchmarkError, match="notes: BERTScore"):
        plan(Site(site.directory), "notes:model=m")
