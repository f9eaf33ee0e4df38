"""Names of benchmarks on pages: those of the site's own follow their files, and one reading serves many pages."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import survey_benchmarks
from agent.service.web import benchmark_titles
from agent.service.web.benchmark_titles import BenchmarkTitles

OWN = (
    "name: ward\ndisplay_name: {title}\ndescription: d\nprompt_file: p.txt\ndataset_file: d.csv\naccess: private\n"
    "metrics:\n  - name: exact_match\n"
)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """The folders of which all definitions were read."""
    folders: list[Path | None] = []

    def survey(own: Path | None):
        folders.append(own)
        return survey_benchmarks(own)

    monkeypatch.setattr(benchmark_titles, "survey_benchmarks", survey)
    return folders


def test_definitions_are_read_once_for_many_names(readings: list[Path | None], tmp_path: Path):
    titles = BenchmarkTitles()
    assert titles.find("pubmed_qa", tmp_path) == "PubMedQA"
    assert titles.find("med_qa", tmp_path) == "MedQA"
    assert titles.find("of/another-site", tmp_path) == "of/another-site"
    assert titles.find("pubmed_qa", tmp_path) == "PubMedQA"
    assert readings == [tmp_path]


def test_a_definition_that_is_added_changed_or_removed_counts_at_once(tmp_path: Path):
    titles = BenchmarkTitles()
    assert titles.find("ward", tmp_path) == "ward"
    folder = tmp_path / "ward"
    folder.mkdir()
    (folder / "p.txt").write_text("{note}")
    (folder / "d.csv").write_text("note,correct_answer\na,Yes\n")
    for title in ("The ward", "Another ward"):
        (folder / "benchmark.yaml").write_text(OWN.format(title=title))
        assert titles.find("ward", tmp_path) == title
    (folder / "benchmark.yaml").unlink()
    assert titles.find("ward", tmp_path) == "ward"


def test_a_site_without_a_folder_of_its_own_has_the_shipped_names(tmp_path: Path):
    assert BenchmarkTitles().find("pubmed_qa", None) == "PubMedQA"
    assert BenchmarkTitles().find("pubmed_qa", tmp_path / "none") == "PubMedQA"
