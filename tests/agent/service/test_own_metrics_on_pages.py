"""A site's own metric stands on the pages of its instances and runs, marked as its own."""

from pathlib import Path

from agent.site.directory import Site, create_site
from tests.agent.fault_server import FaultServer
from tests.agent.own_metrics.metrics import approve, write_metric
from tests.agent.runs.suites import run, write_benchmark
from tests.agent.service.conftest import OpenPages

METRICS = "max_tokens: 8\nmetrics:\n  - name: rouge_l\n  - name: own/dose\n"


def test_the_pages_show_the_metric_under_its_marked_name(tmp_path: Path, open_pages: OpenPages):
    site = create_site(tmp_path / "site", "h")
    write_benchmark(site, "notes", [{"note": "n", "correct_answer": "5 mg"}], METRICS)
    source = approve(write_metric(site.plugins, "return 0.25", name="dose"))
    with (site.directory / "site.yaml").open("a") as file:
        entry = f"{{name: dose, file: {source.shown}, sha256: {source.sha256}}}"
        file.write(f"plugins:\n  - {entry}\n")
    site = Site(site.directory)
    with FaultServer(models=["m"], answer="5 mg") as server:
        run(site, server.url, "notes:model=m")
    pages = open_pages(site)
    texts = [page.content.decode() for _, page in pages.draw_all()]
    shown = [text for text in texts if "Test (own)" in text]
    assert any("0.25" in text for text in shown)
