"""Names that people wrote into run entries, or that came with an import: no redacted export passes them on."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from agent.cli.main import intramural
from agent.errors import BenchmarkError
from agent.exchange.helm.import_runs import import_helm
from agent.exchange.helm.own_record import RECORD
from tests.agent.exchange.conftest import DATA
from tests.agent.exchange.helm.exported_runs import read_every_byte
from tests.agent.service.filled_site import FilledSite, case, filled_site

REAL = DATA / "helm_output" / "runs" / "real" / "simple_mcqa"
NUMBER = "471108152342"  # too long to come about in a random digest
NAME = f"John Smith MRN {NUMBER}"
WAYS = ("jsonl", "csv", "parquet", "xlsx", "helm", "pages", "release")


def planted_in(content: str | bytes, *words: str) -> list[str]:
    content = content if isinstance(content, bytes) else content.encode()
    return [word for word in words if word.encode() in content]


def exported(filled: FilledSite, folder: Path, way: str, suite: str, *words: str) -> bytes:
    """What an export holds, its paths too, and what the command prints; tables of Parquet as they are read."""
    site = ["--site", str(filled.site.directory)]
    if way == "release":
        made = CliRunner().invoke(
            intramural, [*site, "summarize", "--suites", suite, "--release", "r1"]
        )
        assert made.exit_code == 0, made.output
    command = {"pages": ["view", "--export", str(folder)]}.get(
        way, ["export", "--suite", suite, "--format", way, "--output", str(folder)]
    )
    command = ["view", "--export", str(folder), "--release", "r1"] if way == "release" else command
    done = CliRunner().invoke(intramural, [*site, *command, *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    read = b""
    if way == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        read = b"".join(
            str(parquet.read_table(path).to_pylist()).encode() for path in folder.glob("*.parquet")
        )
    for path in folder.glob("*.xlsx"):
        for sheet in load_workbook(path).worksheets:
            read += str(list(sheet.values)).encode()
    return read_every_byte(folder) + read + done.output.encode()


@pytest.fixture
def wards(filled: FilledSite) -> FilledSite:
    return with_wards(filled)


def with_wards(filled: FilledSite) -> FilledSite:
    """Give the site a benchmark of its own whose ward may be any text."""
    folder = filled.site.directory / "benchmarks" / "plant"
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(
        "name: plant\ndescription: d\nprompt_file: p.txt\ndataset_file: d.csv\naccess: private\narguments:\n"
        "  ward: {column: ward}\n  form: {values: [long, short], default: short}\n"
        "  style: {default: plain}\nmetrics:\n  - name: exact_match\n"
    )
    (folder / "p.txt").write_text("{note}")
    (folder / "d.csv").write_text(
        "ward,note,correct_answer\nicu Zenobia Quackenbush,a,Yes\nicu Ignatius Quellmalz,b,No\n"
    )
    return filled


ENTRY = "plant:ward=icu {},form=long,style=plain,model=a/b"
PLANTED = ("Zenobia", "Quackenbush", "Ignatius", "Quellmalz")


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kept", [{}, {"free_arguments": None}], ids=["new", "old"])
def test_a_free_argument_is_in_no_byte_of_a_redacted_export_and_two_runs_stay_two(
    wards: FilledSite, tmp_path: Path, way: str, kept: dict[str, Any]
):
    for number, ward in enumerate(("Zenobia Quackenbush", "Ignatius Quellmalz")):
        wards.add([case(number)], entry=ENTRY.format(ward), **kept)
        wards.add([case(number)], suite="earlier", entry=ENTRY.format(ward), **kept)
    if way == "release":  # a run that two suites hold is named by itself
        words = [
            "--site",
            str(wards.site.directory),
            "summarize",
            "--suites",
            "earlier",
            "november",
            "--release",
            "r1",
        ]
        assert CliRunner().invoke(intramural, words).exit_code == 0
    assert planted_in(exported(wards, tmp_path / "out", way, "november"), *PLANTED) == []
    revealed = exported(wards, tmp_path / "revealed", way, "november", "--reveal")
    assert planted_in(revealed, *PLANTED) == list(PLANTED)


@pytest.mark.full
def test_a_label_is_the_same_for_the_same_value_and_another_at_another_site(
    wards: FilledSite, tmp_path: Path
):
    def names(filled: FilledSite, folder: str) -> list[str]:
        exported(filled, tmp_path / folder, "jsonl", "november")
        return sorted(
            {
                row["run"]
                for row in json.loads((tmp_path / folder / "summary.json").read_text("utf-8"))
            }
        )

    other = with_wards(filled_site(tmp_path / "elsewhere"))
    for number, ward in enumerate(("Zenobia Quackenbush", "Ignatius Quellmalz")):
        wards.add([case(number)], entry=ENTRY.format(ward))
        other.add([case(number)], entry=ENTRY.format(ward))
    once, again = names(wards, "once"), names(wards, "again")
    assert not {name.split(",")[0] for name in once} & {
        name.split(",")[0] for name in names(other, "other")
    }
    assert len(once) == 2
    assert once == again
    assert all(name.startswith("plant:ward=ward_") for name in once)
    assert all(",form=long,style=plain,model=a/b,model_deployment=" in name for name in once)


def test_listed_values_and_defaults_keep_their_names(filled: FilledSite, tmp_path: Path):
    entry = "clear:condition=homelessness,max_train_instances=0,model=a/b"
    run_id = filled.add([case(0)], entry=entry)
    with filled.site.store() as store:
        (run,) = store.runs.select("november")
    assert (run.run_id, run.details.free_arguments) == (run_id, ())
    exported(filled, tmp_path / "out", "jsonl", "november")
    assert {
        row["run"] for row in json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    } == {run.name}


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
def test_a_pattern_or_field_from_a_run_entry_is_in_no_byte_of_a_redacted_export(
    filled: FilledSite, tmp_path: Path, way: str
):
    for number, setting in enumerate(("answer_pattern=Zenobia", "answer_field=Quackenbush")):
        filled.add([case(number)], entry=f"med_qa:{setting},model=a/b")
    assert planted_in(exported(filled, tmp_path / "out", way, "november"), *PLANTED) == []


def test_pages_of_this_machine_name_the_run_as_people_of_the_site_do(wards: FilledSite):
    from agent.redaction.gateway.cases import open_clearer
    from agent.service.pages import SitePages

    run_id = wards.add([case(0)], entry=ENTRY.format("Zenobia Quackenbush"))
    with wards.site.store() as store:
        clearer = open_clearer(wards.site, store, reveal=False, purpose="view")
        page = SitePages(wards.site.name, store, clearer).draw_page(f"runs/{run_id}/index.html")
    assert page is not None
    assert b"icu Zenobia Quackenbush" in page.content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(REAL, tmp_path / "runs" / "real" / "mcqa")


def edit(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    value = json.loads((folder / name).read_text("utf-8"))
    change(value)
    (folder / name).write_text(json.dumps(value), "utf-8")


def plant(folder: Path) -> None:
    """Names where an import takes more than a plain one."""

    def change(spec: Any) -> None:
        spec["name"] = f"{NAME}:subset={NAME},{NAME},{NAME}=x,model={NAME}"
        spec["adapter_spec"] |= {
            "model": NAME,
            "model_deployment": f"at {NAME}",
            "stop_sequences": ["\n", NAME],
        }

    edit(folder, "run_spec.json", change)
    metric = {
        "name": "exact_match", "helm_name": "exact_match", "display_name": NAME, "low": 0, "high": 1, "binary": True,
        "scoring": "helm", "whole_run": False,
    }  # fmt: skip
    record = {
        "format": "intramural run 1", "data": "unknown", "own_data": True, "unit": NAME, "unit_named": False,
        "scoring": "helm", "metrics": [metric, metric | {"name": "strange", "helm_name": "quasi_exact_match"}],
        "instances": [],
    }  # fmt: skip
    (folder / RECORD).write_text(json.dumps(record), "utf-8")


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize("way", WAYS)
def test_names_of_an_imported_run_are_in_no_byte_of_a_redacted_export(
    filled: FilledSite, folder: Path, tmp_path: Path, way: str
):
    plant(folder)
    (run,) = import_helm(filled.site, folder, "real")
    assert NAME in run.name
    assert (
        planted_in(exported(filled, tmp_path / "out", way, "real"), "John", "Smith", NUMBER) == []
    )
    assert planted_in(exported(filled, tmp_path / "revealed", way, "real", "--reveal"), NAME) == [
        NAME
    ]


def metric_name(folder: Path) -> None:
    def change(rows: Any) -> None:
        next(s for row in rows for s in row["stats"] if s["name"]["name"] == "exact_match")["name"][
            "name"
        ] = NAME

    edit(folder, "per_instance_stats.json", change)


def whole_run_metric(folder: Path) -> None:
    edit(
        folder,
        "stats.json",
        lambda stats: stats.append({"name": {"name": NAME}, "count": 1, "mean": 0.5}),
    )


def long_metric(folder: Path) -> None:
    named = {"name": {"name": "x" * 81}, "count": 1, "mean": 0.5}
    edit(folder, "stats.json", lambda stats: stats.append(named))


def group(folder: Path) -> None:
    edit(folder, "run_spec.json", lambda spec: spec.update(groups=["fine", NAME]))


def scenario(folder: Path) -> None:
    edit(folder, "run_spec.json", lambda spec: spec["scenario_spec"].update(class_name=NAME))


def record_metric(folder: Path) -> None:
    plant(folder)
    edit(folder, RECORD, lambda record: record["metrics"][1].update(name=NAME))


def record_helm_name(folder: Path) -> None:
    plant(folder)
    edit(folder, RECORD, lambda record: record["metrics"][1].update(helm_name=NAME))


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (
            metric_name,
            r"per_instance_stats.json \[\d+\].stats\[\d+\].name.name: expected a name of 1 to 80 letters",
        ),
        (whole_run_metric, r"stats.json \[\d+\].name.name: expected a name of 1 to 80 letters"),
        (long_metric, r"stats.json \[\d+\].name.name: expected a name of 1 to 80 letters"),
        (group, r"run_spec.json groups\[1\]: expected a name of 1 to 80 letters"),
        (scenario, "run_spec.json scenario_spec.class_name: expected a class"),
        (record_metric, r"intramural.json metrics\[1\].name: expected a name of 1 to 80 letters"),
        (
            record_helm_name,
            r"intramural.json metrics\[1\].helm_name: expected a name of 1 to 80 letters",
        ),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_metric_group_or_scenario_in_free_text_is_refused_by_place(
    filled: FilledSite, folder: Path, spoil: Callable[[Path], None], where: str
):
    spoil(folder)
    with pytest.raises(BenchmarkError, match=where) as refused:
        import_helm(filled.site, folder)
    assert planted_in(str(refused.value) + refused.value.advice, "John", NUMBER) == []
    with filled.site.store() as store:
        assert store.runs.select() == []
        assert [event.event for event in store.audit.read_events()] == ["site created"]


def test_each_imported_run_is_in_the_audit_log_by_counts(filled: FilledSite, folder: Path):
    plant(folder)
    import_helm(filled.site, folder)
    with filled.site.store() as store:
        (run,) = store.runs.select()
        (_, last) = store.audit.read_events()
    assert (last.event, last.detail) == (
        "imported",
        f"run={run.run_id} instances=4 answers=4 metrics=2",
    )
