"""A leaderboard is imported once, under its own name, and refused where it is spoilt."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release, summarise_release
from tests.agent.exchange.conftest import RELEASE
from tests.agent.service.filled_site import FilledSite


def edit(path: Path, change: Any) -> None:
    value = json.loads(path.read_text("utf-8"))
    change(value)
    path.write_text(json.dumps(value), "utf-8")


def test_the_same_leaderboard_again_is_the_same_as_once(joined: FilledSite):
    with joined.site.store() as store:
        before = store.releases.read_leaderboard_cells("medhelm")
    import_leaderboard(joined.site, RELEASE, "medhelm")
    with joined.site.store() as store:
        assert store.releases.read_leaderboard_cells("medhelm") == before
        assert len(store.releases.read_leaderboards()) == 1


def test_a_leaderboard_never_takes_the_name_of_a_suite(joined: FilledSite):
    with pytest.raises(ConfigError, match="a suite already has the name november"):
        import_leaderboard(joined.site, RELEASE, "november")


def test_many_jury_scores_under_one_heading_are_not_mistaken_for_each_other(
    joined: FilledSite, tmp_path: Path
):
    board = shutil.copytree(RELEASE, tmp_path / "release")

    def two_of_one_heading(schema: Any) -> None:
        other = {"name": "aci_bench_accuracy", "display_name": "x", "short_display_name": "EM"}
        schema["metrics"].insert(0, other)

    edit(board / "schema.json", two_of_one_heading)
    import_leaderboard(joined.site, board, "medhelm")
    with joined.site.store() as store:
        metrics = {
            cell.metric
            for cell in store.releases.read_leaderboard_cells("medhelm")
            if cell.benchmark == "pubmed_qa"
        }
    assert metrics == {"exact_match"}


def test_a_benchmark_that_is_not_known_here_keeps_its_name(joined: FilledSite, tmp_path: Path):
    board = shutil.copytree(RELEASE, tmp_path / "release")
    edit(
        board / "schema.json",
        lambda schema: [
            group.update(name="airways")
            for group in schema["run_groups"]
            if group["name"] == "pubmed_qa"
        ],
    )
    (board / "groups" / "pubmed_qa.json").rename(board / "groups" / "airways.json")
    import_leaderboard(joined.site, board, "medhelm")
    make_release(joined.site, ["medhelm"], "R1")
    assert "airways" in {s.run.benchmark for s in summarise_release(joined.site, "R1")}


def read_instances(joined: FilledSite, board: Path) -> set[int | None]:
    import_leaderboard(joined.site, board, "medhelm")
    with joined.site.store() as store:
        cells = store.releases.read_leaderboard_cells("medhelm")
    return {cell.instances for cell in cells if cell.benchmark == "pubmed_qa"}


def describe_scores(board: Path, description: str, value: float | None = None) -> None:
    """Change each score of PubMedQA; with `value`, give its column's place to HELM's number of instances."""

    def describe(tables: Any) -> None:
        for row in tables[0]["rows"]:
            for cell in row[1:]:
                cell["description"] = description
            if value is not None:
                row[2]["value"] = value
        if value is not None:
            tables[0]["header"][2]["metadata"]["metric"] = "# eval"

    edit(board / "groups" / "pubmed_qa.json", describe)


def test_the_number_of_instances_is_the_one_that_the_leaderboard_states(
    joined: FilledSite, tmp_path: Path
):
    board = shutil.copytree(RELEASE, tmp_path / "release")
    assert read_instances(joined, board) == {25}
    # One value for each of HELM's three trials says nothing about instances.
    describe_scores(board, "min=0, mean=0.5, max=1, sum=1.5 (3)")
    assert read_instances(joined, board) == {None}
    describe_scores(board, "No matching runs")
    assert read_instances(joined, board) == {None}
    # Thirteen runs of one benchmark: the column shows their mean, the description their sum.
    describe_scores(board, "min=70, mean=77.3, max=80, sum=1005 (13)", value=77.3)
    assert read_instances(joined, board) == {1005}
    describe_scores(board, "", value=1000)
    assert read_instances(joined, board) == {1000}


def no_schema(board: Path) -> None:
    (board / "schema.json").unlink()


def cut(board: Path) -> None:
    path = board / "groups" / "pubmed_qa.json"
    path.write_bytes(path.read_bytes()[:700])


def nan(board: Path) -> None:
    edit(
        board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0][1].update(value=float("nan"))
    )


def text_for_number(board: Path) -> None:
    edit(
        board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0][1].update(value="SECRETWORD")
    )


def short_row(board: Path) -> None:
    edit(board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0].pop())


def path_trick(board: Path) -> None:
    edit(board / "schema.json", lambda s: s["run_groups"][-1].update(name="../../secret"))


def link(board: Path) -> None:
    (board / "groups" / "pubmed_qa.json").unlink()
    (board / "groups" / "pubmed_qa.json").symlink_to("/etc/passwd")


def control(board: Path) -> None:
    edit(
        board / "groups" / "pubmed_qa.json",
        lambda t: t[0]["rows"][0][0].update(value="\x1b[31mmodel"),
    )


def empty(board: Path) -> None:
    shutil.rmtree(board / "groups")


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (no_schema, "schema.json: the file is missing"),
        (cut, "pubmed_qa.json: invalid JSON at line"),
        (nan, "pubmed_qa.json: a number is not valid"),
        (text_for_number, r"pubmed_qa.json \[0\].rows\[0\]\[1\].value: expected a number"),
        (short_row, r"pubmed_qa.json \[0\].rows\[0\]: expected \d cells"),
        (path_trick, "schema.json run_groups.*name: expected a name without /"),
        (link, "pubmed_qa.json: expected a plain file, not a link"),
        (control, r"rows\[0\]\[0\].value: expected a name"),
        (empty, "no table in groups/ contains a value"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_spoilt_leaderboard_is_refused_by_place_and_nothing_is_kept(
    filled: FilledSite, tmp_path: Path, spoil: Any, where: str
):
    board = shutil.copytree(RELEASE, tmp_path / "release")
    spoil(board)
    with pytest.raises(BenchmarkError, match=where) as refused:
        import_leaderboard(filled.site, board)
    assert "SECRETWORD" not in str(refused.value)
    with filled.site.store() as store:
        assert store.releases.read_leaderboards() == []
