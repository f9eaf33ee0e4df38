"""Data is put into a site whole or not at all, and what was put in can be told from what is there now."""

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.datasets.manage.register import Attestation, add_data, check_data, remove_data
from agent.errors import AgentError, BenchmarkError, ConfigError, StoreError
from agent.io.atomic_files import lock_folder
from agent.site.directory import Site
from tests.agent.catalog.shipped import BENCHMARKS
from tests.agent.datasets.manage.given_data import (
    GOOD,
    ROWS,
    a_folder,
    add,
    broken,
    define,
    intramural,
    packed,
    source,
    text_of,
    what_lies_there,
    with_parts,
)

WHO = Attestation("Some Agreement 1.0", "Dr Example")


def test_a_file_is_put_in_under_its_official_name_for_its_owner_alone(
    site: Site, own: Benchmark, tmp_path: Path
):
    added = add_data(own, source(tmp_path), site.data, attestation=None)
    assert added.contents.instances == 3
    assert added.contents.letters == {"A": 1, "B": 2}
    assert added.contents.problems == ("no published digest to compare with",)
    assert what_lies_there(site) == {"own", "own/official.csv", "own/.dataset.json"}
    for path in (site.data / "own", *(site.data / "own").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert (site.data / "own" / "official.csv").read_text() == GOOD
    record = json.loads((site.data / "own" / ".dataset.json").read_text())
    assert list(record["files"]) == ["official.csv"]
    assert (record["known"], record["instances"], record["attested_by"]) == ("unknown", 3, "")
    assert check_data(own, site.data).state == "ready"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            text_of([{key: row[key] for key in ("id", "note")} for row in ROWS]),
            "missing 'answer'; expected",
        ),
        (broken(id="2"), "row 4 (line 6): has the same 'id' as row 2 (line 3)"),
        (
            broken(answer="CANARY"),
            "row 4 (line 6): the column 'answer' does not name one of the options",
        ),
        (broken(note=" "), "row 4 (line 6): the column 'note' is empty"),
        (GOOD.encode() + b"4,caf\xe9 CANARY,yes\n", "line 6: is not UTF-8"),
        ("", "is empty"),
        ("id,note,answer\n", "the dataset has no rows"),
        (
            GOOD + '4,"never closed CANARY,yes\n',
            "row 4 (line 6): a quote is opened but never closed",
        ),
        (GOOD + "4,CANARY, a comma,yes\n", "row 4 (line 6): has 4 fields, but the header has 3"),
        (GOOD + "4," + "x" * 2**25 + ",yes\n", "row 4 (line 6)"),
        ("-----BEGIN PRIVATE KEY-----\n", "looks like a private key"),
    ],
    ids=[
        "column",
        "id",
        "option",
        "empty cell",
        "encoding",
        "empty",
        "no rows",
        "quote",
        "comma",
        "long line",
        "key",
    ],
)
def test_a_file_that_is_wrong_is_told_by_row_and_nothing_is_put_in(
    site, own, tmp_path, content, said
):
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
        add(
            site,
            own,
            source(tmp_path, text_of([*ROWS, {**ROWS[0], "answer": "?"}, {**ROWS[0], "note": ""}])),
        )
    assert "row 4" in str(caught.value)
    assert "row 5" in str(caught.value)


def test_data_that_is_there_is_replaced_only_when_asked_and_only_by_data_that_is_right(
    site, own, tmp_path
):
    add(site, own, source(tmp_path))
    with pytest.raises(ConfigError, match="already contains data") as caught:
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
    with pytest.raises(ConfigError, match="already contains data"):
        add(site, own, source(tmp_path))
    assert check_data(own, site.data).state == "ready"
    assert what_lies_there(site) == {"own", "own/official.csv", "own/.dataset.json"}


def test_what_a_version_is_noted_for_is_told_where_its_data_is_added_and_listed(site, tmp_path):
    note = "holds three patients"
    digest = hashlib.sha256(GOOD.encode()).hexdigest()
    own = define(
        site.directory / "benchmarks",
        files=f"[{{name: official.csv, sha256: {digest}, note: {note}}}]",
    )
    added = add_data(own, source(tmp_path), site.data, attestation=None)
    assert (added.record.known, added.contents.problems) == ("official", (note,))
    state = check_data(own, site.data)
    assert state.state == "ready"
    assert state.detail.startswith("a known version, added 20")
    assert state.detail.endswith(f"; {note}")


def test_data_that_changes_afterwards_is_told(site, own, tmp_path):
    add(site, own, source(tmp_path))
    official = site.data / "own" / "official.csv"
    official.write_text(text_of(ROWS[:2]))
    assert check_data(own, site.data).detail.startswith("1 file changed")
    official.unlink()
    (site.data / "own" / "other.csv").write_text(GOOD)
    state = check_data(own, site.data)
    assert (state.state, state.detail[:28]) == ("changed", "1 file missing, 1 file new; ")
    (site.data / "own" / ".dataset.json").write_text("{")
    assert check_data(own, site.data).state == "cannot be read"


def test_files_of_the_recorded_size_and_time_are_not_read_to_say_that_nothing_changed(
    site, own, tmp_path, monkeypatch
):
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
    assert (check_data(own, site.data).state, check_data(own, site.data).detail[:24]) == (
        "ready",
        "copied there by hand, no",
    )


def test_data_put_there_by_hand_is_not_read_at_every_look(site, own, monkeypatch):
    (site.data / "own").mkdir(parents=True)
    path = site.data / "own" / "official.csv"
    path.write_text(GOOD)
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("a file was read"))
    assert check_data(own, site.data).state == "ready"


def gated(site: Site) -> Benchmark:
    return define(
        site.directory / "benchmarks",
        "access: gated\n",
        "[{name: official.csv}], agreement: The Owner's Agreement 2.0",
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
    with pytest.raises(ConfigError, match="already contains data"):
        add(site, own, site.data / "own", attestation=WHO)
    add(site, own, site.data / "own", attestation=WHO, replace=True)
    assert check_data(own, site.data).state == "ready"
    assert (site.data / "own" / "official.csv").read_text() == GOOD


def test_two_commands_at_once_do_not_mix(site, own, tmp_path):
    with (
        lock_folder(site.data),
        pytest.raises(StoreError, match="another command is using the folder data"),
    ):
        add(site, own, source(tmp_path))
    add(site, own, source(tmp_path))


def test_a_fault_is_told_of_the_file_as_it_was_handed_over(site, own, tmp_path):
    with pytest.raises(BenchmarkError) as caught:
        add(site, own, source(tmp_path, broken(answer="?"), "mine.csv"))
    assert str(caught.value).startswith("mine.csv: row 4 (line 6): ")
    folder = a_folder(tmp_path)
    (folder / "wards" / "north.csv").write_text(broken(answer="?"))
    with pytest.raises(BenchmarkError, match=r"release-1\.0/wards/north\.csv: row 4"):
        add(site, with_parts(site, "parts"), packed(folder, "tgz"), replace=True)


def test_a_hospitals_own_data_is_not_warned_of_as_another_version(site, tmp_path):
    define(site.directory / "benchmarks", more="access: private\n")
    done = intramural(site, "datasets", "add", "own", source(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "own: 3 instances in 1 file, your own data" in done.stdout


def test_the_commands_tell_what_was_put_in_and_leave_a_trace(site, tmp_path):
    gated(site)
    refused = intramural(site, "datasets", "add", "own", source(tmp_path))
    assert refused.returncode == 2
    assert "The Owner's Agreement 2.0" in refused.stderr
    half = intramural(site, "datasets", "add", "own", source(tmp_path), "--agreement", "x")
    assert half.returncode == 2
    assert "must be given together" in half.stderr
    words = ("--agreement", WHO.agreement, "--attested-by", WHO.by)
    done = intramural(site, "datasets", "add", "own", source(tmp_path), *words)
    assert done.returncode == 0, done.stderr
    assert "own: 3 instances in 1 file, no published digest to compare with" in done.stdout
    assert "correct options: A 1, B 2" in done.stdout
    assert "the data owner's agreement is" in done.stderr
    assert "CANARY" not in done.stdout + done.stderr
    audit = intramural(site, "audit").stdout
    assert "data added" in audit
    assert "attested_by='Dr Example'" in audit
    (row,) = [
        row
        for row in json.loads(intramural(site, "datasets", "list", "--format", "json").stdout)
        if row["id"] == "own"
    ]
    assert (row["state"], row["access"], row["instances"]) == ("ready", "gated", 3)


def test_data_is_added_to_sites_and_known_benchmarks_only(site, tmp_path):
    no_site = subprocess.run(
        [
            sys.executable,
            "-m",
            "agent",
            "--site",
            str(tmp_path),
            "datasets",
            "add",
            "med_qa",
            str(source(tmp_path)),
        ],
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
        assert (
            f"intramural datasets fetch {row['id']}" in row["detail"]
            or f"datasets add {row['id']}" in row["detail"]
        )


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_sample_of_every_benchmark_can_be_handed_over_as_data(tmp_path: Path, name: str):
    """So that the official layout of each is what `datasets add` takes and what runs read."""
    benchmark = BENCHMARKS[name]
    assert benchmark.sample is not None
    added = add_data(benchmark, benchmark.folder / benchmark.sample.name, tmp_path, attestation=WHO)
    assert check_data(benchmark, tmp_path).state == "ready"
    assert len(
        list(
            iter_instances(
                benchmark, locate_dataset(benchmark, tmp_path, benchmark.sample_arguments)
            )
        )
    ) == (benchmark.sample.rows)
    assert added.record.instances >= (benchmark.sample.rows or 0)
    required = [argument for argument in benchmark.arguments.values() if argument.required]
    assert len(added.contents.parts) == (len(required[0].values) if required else 1)


def test_no_error_of_an_add_is_an_unexpected_one(site, own, tmp_path):
    """Whatever is handed over, the answer is one of the agent's own errors."""
    for number, content in enumerate(
        [b"\0" * 100, b"\xff\xfe\x00", b"[]", b"PK\x03\x04", b"a" * 10_000, b"\n" * 50]
    ):
        for ending in ("csv", "zip", "tar.gz", "json", ""):
            path = tmp_path / f"{number}.{ending}"
            path.write_bytes(content)
            with pytest.raises(AgentError):
                add(site, own, path)
    assert what_lies_there(site) == set()


def test_removed_data_is_gone_and_a_registered_copy_stays(site, own, tmp_path):
    add(site, own, source(tmp_path))
    frozen = site.data / ".frozen" / "own" / "0001"
    frozen.mkdir(parents=True)
    (frozen / "kept").write_text("x")
    done = intramural(site, "datasets", "remove", "own")
    assert "own: 1 file deleted" in done.stdout
    assert not (site.data / "own").exists()
    assert (frozen / "kept").exists()
    assert check_data(own, site.data).state == "missing"
    again = intramural(site, "datasets", "remove", "own")
    assert again.returncode == 2
    assert "no data of it" in again.stderr
    with site.store() as store:
        assert store.audit.read_events()[-1].detail == "benchmark=own files=1"


def test_a_removal_that_was_cut_off_is_finished_and_never_undone(site, own, tmp_path):
    add(site, own, source(tmp_path))
    (site.data / "own").rename(site.data / ".own.new")
    with pytest.raises(ConfigError, match="no data"):
        remove_data(own, site.data)
    assert not (site.data / ".own.new").exists()
    assert not (site.data / "own").exists()
