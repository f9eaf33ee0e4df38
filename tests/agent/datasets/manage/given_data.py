"""Data that somebody hands over: a file, a folder or an archive, right or broken."""

import csv
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.datasets.manage.register import add_data
from agent.site.directory import Site
from tests.agent import terminal
from tests.agent.terminal import Done

ROWS = [
    {"id": "1", "note": "CANARY one", "answer": "yes"},
    {"id": "2", "note": "CANARY two\nwith two lines", "answer": "no"},
    {"id": "3", "note": "CANARY three", "answer": "no"},
]


def text_of(rows: list[dict[str, str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


GOOD = text_of(ROWS)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def define(
    folder: Path, more: str = "access: public\n", files: str = "[{name: official.csv}]"
) -> Benchmark:
    place = folder / "own"
    place.mkdir(parents=True)
    (place / "prompt.txt").write_text("Note: {note}\n\n{options}\n")
    (place / "benchmark.yaml").write_text(
        "name: own\ndescription: x\nprompt_file: prompt.txt\nchoices: ['yes', 'no']\ngold: {column: answer}\n"
        f"id_column: id\nmetrics: [{{name: exact_match}}]\n{more}data: {{loader: csv, files: {files}}}\n"
    )
    return load_benchmark(place)


def source(tmp_path: Path, text: str = GOOD, name: str = "given.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def add(site: Site, own: Benchmark, path: Path, **more) -> None:
    add_data(own, path, site.data, attestation=more.pop("attestation", None), **more)


def what_lies_there(site: Site) -> set[str]:
    return {
        path.relative_to(site.data).as_posix()
        for path in site.data.rglob("*")
        if path.name != ".lock"
    }


def broken(change: dict[str, str] | None = None, **cells: str) -> str:
    return text_of([*ROWS, {**ROWS[0], "id": "4", **cells}])


# Folders and archives


def with_parts(site: Site, below: str = "") -> Benchmark:
    return define(
        site.directory / "benchmarks" / below,
        "access: public\narguments:\n  ward: {values: [north, south, west], required: true}\n",
        "[{name: 'wards/{ward}.csv'}, {name: legend.txt, optional: true}]",
    )


def a_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    (folder / "wards").mkdir(parents=True)
    for ward, count in (("north", 2), ("south", 3)):
        (folder / "wards" / f"{ward}.csv").write_text(text_of(ROWS[:count]))
    (folder / "README.md").write_text("not read")
    (folder / "wards" / "elsewhere.csv").write_text("not read either")
    return folder


def packed(folder: Path, kind: str) -> Path:
    target = folder.parent / f"release.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for path in folder.rglob("*"):
                archive.write(path, Path("release-1.0") / path.relative_to(folder))
    elif kind != "folder":
        with tarfile.open(target, "w:gz") as archive:
            archive.add(folder, "release-1.0")
    return folder if kind == "folder" else target


def intramural(site: Site, *words: str | Path) -> Done:
    return terminal.intramural("--site", site.directory, *words, cwd=Path())
