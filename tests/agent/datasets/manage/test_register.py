"""Data is put into a site whole or not at all, and what was put in can be told from what is there now."""

import contextlib
import csv
import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.datasets.manage.register import Attestation, add_data, check_data
from agent.errors import AgentError, BenchmarkError, ConfigError, StoreError
from agent.io.atomic_files import lock_folder
from agent.site.directory import Site, create_site
from tests.agent import terminal
from tests.agent.catalog.shipped import BENCHMARKS
from tests.agent.terminal import Done

ROWS = [
    {"id": "1", "note": "CANARY one", "answer": "yes"},
    {"id": "2", "note": "CANARY two\nwith two lines", "answer": "no"},
    {"id": "3", "note": "CANARY three", "answer": "no"},
]
WHO = Attestation("Some Agreement 1.0", "Dr Example")


def text_of(rows: list[dict[str, str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


GOOD = text_of(ROWS)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def define(folder: Path, more: str = "access: public\n", files: str = "[{name: official.csv}]") -> Benchmark:
    place = folder / "own"
    place.mkdir(parents=True)
    (place / "prompt.txt").write_text("Note: {note}\n\n{options}\n")
    (place / "benchmark.yaml").write_text(
        "name: own\ndescription: x\nprompt_file: prompt.txt\nchoices: ['yes', 'no']\ngold: {column: answer}\n"
        f"id_column: id\nmetrics: [{{name: exact_match}}]\n{more}data: {{loader: csv, files: {files}}}\n"
    )
    return load_benchmark(place)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


@pytest.fixture
def own(site: Site) -> Benchmark:
    return define(site.directory / "benchmarks")


def source(tmp_path: Path, text: str = GOOD, name: str = "given.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def add(site: Site, own: Benchmark, path: Path, **more) -> None:
    add_data(own, path, site.data, attestation=more.pop("attestation", None), **more)


def what_lies_there(site: Site) -> set[str]:
    return {path.relative_to(site.data).as_posix() for path in site.data.rglob("*") if path.name != ".lock"}


def test_a_file_is_put_in_under_its_official_name_for_its_owner_alone(site: Site, own: Benchmark, tmp_path: Path):
    added = add_data(own, source(tmp_path), site.data, attestation=None)
    assert added.contents.instances == 3
    assert added.contents.letters == {"A": 1, "B": 2}
    assert added.contents.problems == ("there is no published digest to compare with",)
    assert what_lies_there(site) == {"own", "own/official.csv", "own/.dataset.json"}
    for path in (site.data / "own", *(site.data / "own").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert (site.data / "own" / "official.csv").read_text() == GOOD
    record = json.loads((site.data / "own" / ".dataset.json").read_text())
    assert list(record["files"]) == ["official.csv"]
    assert (record["known"], record["instances"], record["attested_by"]) == ("unknown", 3, "")
    assert check_data(own, site.data).state == "ready"


def broken(change: dict[str, str] | None = None, **cells: str) -> str:
    return text_of([*ROWS, {**ROWS[0], "id": "4", **cells}])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (text_of([{key: row[key] for key in ("id", "note")} for row in ROWS]), "'answer' is missing"),
        (broken(id="2"), "row 4 (line 6): has the same 'id' as row 2 (line 3)"),
        (broken(answer="CANARY"), "row 4 (line 6): the column 'answer' names none of the options"),
        (broken(note=" "), "row 4 (line 6): the column 'note' is empty"),
        (GOOD.encode() + b"4,caf\xe9 CANARY,yes\n", "line 6: is not UTF-8"),
        ("", "is empty"),
        ("id,note,answer\n", "the dataset has no rows"),
        (GOOD + '4,"never closed CANARY,yes\n', "row 4 (line 6): a quote is opened and never closed"),
        (GOOD + "4,CANARY, a comma,yes\n", "row 4 (line 6): has 4 fields, and the header has 3"),
        (GOOD + "4," + "x" * 2**25 + ",yes\n", "row 4 (line 6)"),
        ("-----BEGIN PRIVATE KEY-----\n", "looks like a private key"),
    ],
    ids=["column", "id", "option", "empty cell", "encoding", "empty", "no rows", "quote", "comma", "long line", "key"],
)
def test_a_file_that_is_wrong_is_told_by_row_and_nothing_is_put_in(site, own, tmp_path, content, said):
    path = tmp_path / "given.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BenchmarkError) as caught:
        add(site, own, path)
    assert said in str(caught.value)
    assert "CANARY" not in str(caught.value)
    assert "Nothing was added" in caught.value.advice
    assert what_lies_there(site) == set()


def test_every_fault_of_a_file_is_told_at_once(site, own, tmp_path):
    with pytest.raises(BenchmarkError) as caught:
        add(site, own, source(tmp_path, text_of([*ROWS, {**ROWS[0], "answer": "?"}, {**ROWS[0], "note": ""}])))
    assert "row 4" in str(caught.value)
    assert "row 5" in str(caught.value)


def test_data_that_is_there_is_replaced_only_when_asked_and_only_by_data_that_is_right(site, own, tmp_path):
    add(site, own, source(tmp_path))
    with pytest.raises(ConfigError, match="there is data already") as caught:
        add(site, own, source(tmp_path))
    assert "--replace" in caught.value.advice
    with pytest.raises(BenchmarkError):
        add(site, own, source(tmp_path, broken(answer="?")), replace=True)
    assert (site.data / "own" / "official.csv").read_text() == GOOD
    assert check_data(own, site.data).instances == 3
    add(site, own, source(tmp_path, text_of(ROWS[:2])), replace=True)
    assert check_data(own, site.data).instances == 2
    assert what_lies_there(site) == {"own", "own/official.csv", "own/.dataset.json"}


def test_what_a_killed_command_left_is_tidied_and_the_old_data_comes_back(site, own, tmp_path):
    add(site, own, source(tmp_path))
    (site.data / "own").rename(site.data / ".own.old")  # killed between its two renames
    (site.data / ".own.new").mkdir()
    (site.data / ".own.new" / "half").touch()
    with pytest.raises(ConfigError, match="there is data already"):
        add(site, own, source(tmp_path))
    assert check_data(own, site.data).state == "ready"
    assert what_lies_there(site) == {"own", "own/official.csv", "own/.dataset.json"}


def test_what_a_version_is_noted_for_is_told_where_its_data_is_added_and_listed(site, tmp_path):
    note = "holds three patients"
    digest = hashlib.sha256(GOOD.encode()).hexdigest()
    own = define(site.directory / "benchmarks", files=f"[{{name: official.csv, sha256: {digest}, note: {note}}}]")
    added = add_data(own, source(tmp_path), site.data, attestation=None)
    assert (added.record.known, added.contents.problems) == ("official", (note,))
    state = check_data(own, site.data)
    assert state.state == "ready"
    assert state.detail.startswith("a version this benchmark knows, added 20")
    assert state.detail.endswith(f"; {note}")


def test_data_that_changes_afterwards_is_told(site, own, tmp_path):
    add(site, own, source(tmp_path))
    official = site.data / "own" / "official.csv"
    official.write_text(text_of(ROWS[:2]))
    assert check_data(own, site.data).detail.startswith("1 file changed")
    official.unlink()
    (site.data / "own" / "other.csv").write_text(GOOD)
    state = check_data(own, site.data)
    assert (state.state, state.detail[:25]) == ("changed", "1 file gone, 1 file new; ")
    (site.data / "own" / ".dataset.json").write_text("{")
    assert check_data(own, site.data).state == "cannot be read"


def test_files_of_the_recorded_size_and_time_are_not_read_to_say_that_nothing_changed(site, own, tmp_path, monkeypatch):
    add(site, own, source(tmp_path))
    official = site.data / "own" / "official.csv"
    stamp = official.stat()
    with monkeypatch.context() as patched:
        patched.setattr(hashlib, "file_digest", None)
        assert check_data(own, site.data).state == "ready"
    official.write_text(GOOD.replace("one", "ONE"))
    os.utime(official, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert check_data(own, site.data).state == "ready"
    assert check_data(own, site.data, verify=True).state == "changed"
    for verify, state in ((), "ready"), (("--verify",), "changed"):
        rows = json.loads(intramural(site, "datasets", "list", *verify, "--format", "json").stdout)
        assert [row["state"] for row in rows if row["id"] == "own"] == [state]
    os.utime(official)
    assert check_data(own, site.data).state == "changed"


def test_a_record_of_an_earlier_version_holds_no_times_and_every_file_is_read(site, own, tmp_path):
    add(site, own, source(tmp_path))
    path = site.data / "own" / ".dataset.json"
    record = json.loads(path.read_text())
    del record["stamps"]
    path.write_text(json.dumps(record))
    assert check_data(own, site.data).state == "ready"
    (site.data / "own" / "official.csv").write_text(GOOD.replace("one", "ONE"))
    assert check_data(own, site.data).state == "changed"


def test_data_put_there_by_hand_is_used_and_told_as_such(site, own):
    assert check_data(own, site.data).state == "missing"
    assert "official.csv" in check_data(own, site.data).detail
    (site.data / "own").mkdir()
    (site.data / "own" / "official.csv").write_text(GOOD)
    assert (check_data(own, site.data).state, check_data(own, site.data).detail[:21]) == (
        "ready",
        "put there by hand, no",
    )


def gated(site: Site) -> Benchmark:
    return define(
        site.directory / "benchmarks", "access: gated\n", "[{name: official.csv}], agreement: The Owner's Agreement 2.0"
    )


def test_gated_data_needs_somebody_who_attests_the_agreement(site, tmp_path):
    own = gated(site)
    with pytest.raises(ConfigError) as caught:
        add(site, own, source(tmp_path))
    assert "The Owner's Agreement 2.0" in str(caught.value)
    assert "--attested-by" in caught.value.advice
    assert what_lies_there(site) == set()
    (site.data / "own").mkdir()
    (site.data / "own" / "official.csv").write_text(GOOD)
    assert check_data(own, site.data).state == "not attested"
    add(site, own, source(tmp_path), attestation=WHO, replace=True)
    state = check_data(own, site.data)
    assert state.state == "ready"
    assert "Some Agreement 1.0, attested by Dr Example" in state.detail
    record = json.loads((site.data / "own" / ".dataset.json").read_text())
    assert record["agreement"] == WHO.agreement
    assert record["attested_at"].startswith("20")


def test_data_put_there_by_hand_is_attested_by_adding_it_from_where_it_lies(site):
    own = gated(site)
    (site.data / "own").mkdir()
    (site.data / "own" / "official.csv").write_text(GOOD)
    with pytest.raises(ConfigError, match="there is data already"):
        add(site, own, site.data / "own", attestation=WHO)
    add(site, own, site.data / "own", attestation=WHO, replace=True)
    assert check_data(own, site.data).state == "ready"
    assert (site.data / "own" / "official.csv").read_text() == GOOD


def test_two_commands_at_once_do_not_mix(site, own, tmp_path):
    with lock_folder(site.data), pytest.raises(StoreError, match="another command is using the folder data"):
        add(site, own, source(tmp_path))
    add(site, own, source(tmp_path))


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


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz", "tgz"])
def test_what_the_benchmark_reads_is_taken_from_a_folder_or_an_archive(site, tmp_path, kind):
    own = with_parts(site)
    added = add_data(own, packed(a_folder(tmp_path), kind), site.data, attestation=None)
    assert added.contents.parts == {"ward=north": 2, "ward=south": 3}
    assert added.record.instances == 5
    assert added.left_out == 2
    assert {name for name in what_lies_there(site) if name.endswith("csv")} == {
        "own/wards/north.csv",
        "own/wards/south.csv",
    }


def test_a_fault_is_told_of_the_file_as_it_was_handed_over(site, own, tmp_path):
    with pytest.raises(BenchmarkError) as caught:
        add(site, own, source(tmp_path, broken(answer="?"), "mine.csv"))
    assert str(caught.value).startswith("mine.csv: row 4 (line 6): ")
    folder = a_folder(tmp_path)
    (folder / "wards" / "north.csv").write_text(broken(answer="?"))
    with pytest.raises(BenchmarkError, match=r"release-1\.0/wards/north\.csv: row 4"):
        add(site, with_parts(site, "parts"), packed(folder, "tgz"), replace=True)


def test_right_answers_of_no_use_are_told_and_known_versions_are_taken_as_they_are(site, tmp_path):
    bad = "id,note,answer\n1,CANARY,5\n2,CANARY,five\n"
    text = (
        "name: own\ndescription: x\nprompt_file: prompt.txt\ngold: {column: answer}\nid_column: id\n"
        "extra_columns: {category: answer, lower_limit: answer, upper_limit: answer}\n"
        "metrics: [{name: medcalc_bench_accuracy}]\naccess: public\n"
    )
    own = define(site.directory / "benchmarks")
    (own.folder / "prompt.txt").write_text("{note}\n")
    for files, refused in (("{name: official.csv}", True), (f"{{name: official.csv, sha256: {sha256(bad)}}}", False)):
        (own.folder / "benchmark.yaml").write_text(f"{text}data: {{loader: csv, files: [{files}]}}\n")
        of_now = load_benchmark(own.folder)
        with pytest.raises(BenchmarkError, match="row 1") if refused else contextlib.nullcontext():
            add(site, of_now, source(tmp_path, bad))


def test_a_known_version_is_found_in_a_folder_by_its_bytes_whatever_it_is_called(site, tmp_path):
    own = define(site.directory / "benchmarks", files=f"[{{name: official.csv, sha256: {sha256(GOOD)}}}]")
    folder = tmp_path / "release"
    folder.mkdir()
    for name, text in (
        ("train_EN.csv", text_of(ROWS[:2])),
        ("LICENCE", GOOD),
        ("test_EN.csv", GOOD),
        ("copy.csv", GOOD),
    ):
        source(folder, text, name)
    added = add_data(own, folder, site.data, attestation=None)
    assert (added.record.known, added.left_out) == ("official", 3)
    assert (site.data / "own" / "official.csv").read_text() == GOOD


def test_what_takes_several_passes_says_so(site, tmp_path):
    with_parts(site)
    done = intramural(site, "datasets", "add", "own", a_folder(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[:2] == [
        "reading own: ward=north (1 of 2)",
        "reading own: ward=south (2 of 2)",
    ]


def test_every_part_of_a_folder_is_checked(site, tmp_path):
    folder = a_folder(tmp_path)
    for ward in ("north", "south"):
        (folder / "wards" / f"{ward}.csv").write_text(broken(answer="?"))
    with pytest.raises(BenchmarkError) as caught:
        add(site, with_parts(site), folder)
    assert "north.csv: row 4" in str(caught.value)
    assert "south.csv: row 4" in str(caught.value)


def test_a_folder_without_anything_that_is_read(site, own, tmp_path):
    (tmp_path / "release").mkdir()
    source(tmp_path / "release", name="a.txt")
    source(tmp_path / "release", name="b.txt")
    with pytest.raises(
        BenchmarkError, match=r"holds 2 files and none that own reads; expected official\.csv"
    ) as caught:
        add(site, own, tmp_path / "release")
    assert "If one of them is the dataset, give that file itself" in caught.value.advice
    source(tmp_path / "release", name="test_EN.csv")
    with pytest.raises(BenchmarkError) as caught:
        add(site, own, tmp_path / "release")
    assert "If test_EN.csv is the dataset, give that file itself" in caught.value.advice


def test_a_hospitals_own_data_is_not_warned_of_as_another_version(site, tmp_path):
    define(site.directory / "benchmarks", more="access: private\n")
    done = intramural(site, "datasets", "add", "own", source(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "own: 3 instances in 1 file, your own data" in done.stdout


def test_one_file_of_a_benchmark_that_reads_several_is_refused(site, tmp_path):
    with pytest.raises(BenchmarkError, match="name the folder that holds them"):
        add(site, with_parts(site), source(tmp_path))


@pytest.mark.parametrize("linked", ["official.csv", "other.csv", "wards"])
def test_a_link_out_of_the_folder_is_refused(site, own, tmp_path, linked):
    outside = source(tmp_path, name="outside.csv")
    folder = tmp_path / "release"
    folder.mkdir()
    source(folder, name="official.csv" if linked != "official.csv" else "more.csv")
    (folder / linked).symlink_to(tmp_path if linked == "wards" else outside)
    with pytest.raises(BenchmarkError, match=f"{linked}: is a link out of its folder"):
        add(site, own, folder)
    assert what_lies_there(site) == set()


def test_a_link_within_the_folder_is_copied_as_the_file_it_means(site, own, tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    source(folder, name="v1.csv")
    (folder / "official.csv").symlink_to("v1.csv")
    add(site, own, folder)
    assert not (site.data / "own" / "official.csv").is_symlink()


def test_a_link_as_the_file_itself_is_refused(site, own, tmp_path):
    (tmp_path / "official.csv").symlink_to(source(tmp_path))
    with pytest.raises(BenchmarkError, match="is a link; name the file itself"):
        add(site, own, tmp_path / "official.csv")


def test_the_sites_own_keys_are_not_data(site, own):
    for path in (site.keys, site.keys / "data.key"):
        with pytest.raises(BenchmarkError, match="folder named keys"):
            add(site, own, path)


def test_a_pipe_and_a_device_are_not_waited_for(site, own, tmp_path):
    os.mkfifo(tmp_path / "official.csv")
    for path in (tmp_path / "official.csv", Path("/dev/zero")):
        with pytest.raises(BenchmarkError, match="is not a plain file"):
            add(site, own, path)
    folder = tmp_path / "release"
    folder.mkdir()
    (tmp_path / "official.csv").rename(folder / "official.csv")
    with pytest.raises(BenchmarkError, match="is not a plain file"):
        add(site, own, folder)
    assert what_lies_there(site) == set()


def test_two_versions_of_a_file_are_refused(site, tmp_path):
    own = define(
        site.directory / "benchmarks",
        files=f"[{{name: official.csv, sha256: {'a' * 64}, versions: [{{name: new.csv, sha256: {'b' * 64}}}]}}]",
    )
    folder = tmp_path / "release"
    folder.mkdir()
    source(folder, name="official.csv")
    source(folder, name="new.csv")
    with pytest.raises(BenchmarkError, match=r"more than one version: new.csv, official.csv"):
        add(site, own, folder)


def test_one_version_in_each_of_two_folders_is_refused(site, own, tmp_path):
    for name in ("v1", "v2"):
        (tmp_path / "release" / name).mkdir(parents=True)
        source(tmp_path / "release" / name, name="official.csv")
    with pytest.raises(BenchmarkError, match="in 2 folders; is it two versions"):
        add(site, own, tmp_path / "release")
    add(site, own, tmp_path / "release" / "v1")


@pytest.mark.parametrize("name", ["../official.csv", "/etc/official.csv", "a/../../official.csv"])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_archive_that_reaches_out_of_its_folder_is_refused(site, own, tmp_path, name, kind):
    path = tmp_path / f"release.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, GOOD)
    else:
        with tarfile.open(path, "w") as tar:
            info = tarfile.TarInfo(name)
            info.size = len(GOOD.encode())
            tar.addfile(info, io.BytesIO(GOOD.encode()))
    with pytest.raises(BenchmarkError, match="outside its folder"):
        add(site, own, path)
    assert not (tmp_path / "official.csv").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_an_archive_are_refused(site, own, tmp_path, kind):
    with tarfile.open(tmp_path / "release.tar", "w") as archive:
        info = tarfile.TarInfo("official.csv")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(BenchmarkError, match="is a link or a device"):
        add(site, own, tmp_path / "release.tar")


@pytest.mark.parametrize("name", ["release.zip", "release.tar.gz", "release.tgz"])
def test_an_archive_that_is_none(site, own, tmp_path, name):
    with pytest.raises(BenchmarkError, match="damaged, encrypted, or not what its name says"):
        add(site, own, source(tmp_path, name=name))


# Through the command


def intramural(site: Site, *words: str | Path) -> Done:
    return terminal.intramural("--site", site.directory, *words, cwd=Path())


def test_the_commands_tell_what_was_put_in_and_leave_a_trace(site, tmp_path):
    gated(site)
    refused = intramural(site, "datasets", "add", "own", source(tmp_path))
    assert refused.returncode == 2
    assert "The Owner's Agreement 2.0" in refused.stderr
    half = intramural(site, "datasets", "add", "own", source(tmp_path), "--agreement", "x")
    assert half.returncode == 2
    assert "go together" in half.stderr
    words = ("--agreement", WHO.agreement, "--attested-by", WHO.by)
    done = intramural(site, "datasets", "add", "own", source(tmp_path), *words)
    assert done.returncode == 0, done.stderr
    assert "own: 3 instances in 1 file, no published digest to compare with" in done.stdout
    assert "right options: A 1, B 2" in done.stdout
    assert "the owner's agreement is named" in done.stderr
    assert "CANARY" not in done.stdout + done.stderr
    audit = intramural(site, "audit").stdout
    assert "data added" in audit
    assert "attested_by='Dr Example'" in audit
    (row,) = [
        row for row in json.loads(intramural(site, "datasets", "list", "--format", "json").stdout) if row["id"] == "own"
    ]
    assert (row["state"], row["access"], row["instances"]) == ("ready", "gated", 3)


def test_data_is_added_to_sites_and_known_benchmarks_only(site, tmp_path):
    no_site = subprocess.run(
        [sys.executable, "-m", "agent", "--site", str(tmp_path), "datasets", "add", "med_qa", str(source(tmp_path))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert no_site.returncode == 2
    assert "is not a site directory" in no_site.stderr
    unknown = intramural(site, "datasets", "add", "med_qaa", source(tmp_path))
    assert unknown.returncode == 2
    assert "did you mean 'med_qa'" in unknown.stderr


def test_every_benchmark_that_travels_with_the_agent_says_what_is_to_be_put_where(site):
    shown = intramural(site, "datasets", "list", "--format", "json")
    rows = json.loads(shown.stdout)
    assert {row["state"] for row in rows} <= {"sample only", "missing"}
    for row in rows:
        assert f"intramural datasets fetch {row['id']}" in row["detail"] or f"datasets add {row['id']}" in row["detail"]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_sample_of_every_benchmark_can_be_handed_over_as_data(tmp_path: Path, name: str):
    """So that the official layout of each is what `datasets add` takes and what runs read."""
    benchmark = BENCHMARKS[name]
    assert benchmark.sample is not None
    added = add_data(benchmark, benchmark.folder / benchmark.sample.name, tmp_path, attestation=WHO)
    assert check_data(benchmark, tmp_path).state == "ready"
    assert len(list(iter_instances(benchmark, locate_dataset(benchmark, tmp_path, benchmark.sample_arguments)))) == (
        benchmark.sample.rows
    )
    assert added.record.instances >= (benchmark.sample.rows or 0)
    required = [argument for argument in benchmark.arguments.values() if argument.required]
    assert len(added.contents.parts) == (len(required[0].values) if required else 1)


def test_no_error_of_an_add_is_an_unexpected_one(site, own, tmp_path):
    """Whatever is handed over, the answer is one of the agent's own errors."""
    for number, content in enumerate([b"\0" * 100, b"\xff\xfe\x00", b"[]", b"PK\x03\x04", b"a" * 10_000, b"\n" * 50]):
        for ending in ("csv", "zip", "tar.gz", "json", ""):
            path = tmp_path / f"{number}.{ending}"
            path.write_bytes(content)
            with pytest.raises(AgentError):
                add(site, own, path)
    assert what_lies_there(site) == set()
