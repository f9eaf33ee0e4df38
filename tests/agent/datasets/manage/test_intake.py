"""What is taken from a file, a folder or an archive, and what is refused before anything is copied."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from agent.datasets.manage.register import add_data
from agent.errors import BenchmarkError
from tests.agent.datasets.manage.given_data import (
    GOOD,
    ROWS,
    a_folder,
    add,
    define,
    packed,
    sha256,
    source,
    text_of,
    what_lies_there,
    with_parts,
)


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


def test_a_known_version_is_found_in_a_folder_by_its_bytes_whatever_it_is_called(site, tmp_path):
    own = define(
        site.directory / "benchmarks", files=f"[{{name: official.csv, sha256: {sha256(GOOD)}}}]"
    )
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


def test_a_folder_without_anything_that_is_read(site, own, tmp_path):
    (tmp_path / "release").mkdir()
    source(tmp_path / "release", name="a.txt")
    source(tmp_path / "release", name="b.txt")
    with pytest.raises(
        BenchmarkError, match=r"has 2 files, none of which own reads; expected official\.csv"
    ) as caught:
        add(site, own, tmp_path / "release")
    assert "If one of them is the dataset, give the path of that file" in caught.value.advice
    source(tmp_path / "release", name="test_EN.csv")
    with pytest.raises(BenchmarkError) as caught:
        add(site, own, tmp_path / "release")
    assert "If test_EN.csv is the dataset, give the path of that file" in caught.value.advice


def test_one_file_of_a_benchmark_that_reads_several_is_refused(site, tmp_path):
    with pytest.raises(BenchmarkError, match="give the folder that contains them"):
        add(site, with_parts(site), source(tmp_path))


@pytest.mark.parametrize("linked", ["official.csv", "other.csv", "wards"])
def test_a_link_out_of_the_folder_is_refused(site, own, tmp_path, linked):
    outside = source(tmp_path, name="outside.csv")
    folder = tmp_path / "release"
    folder.mkdir()
    source(folder, name="official.csv" if linked != "official.csv" else "more.csv")
    (folder / linked).symlink_to(tmp_path if linked == "wards" else outside)
    with pytest.raises(BenchmarkError, match=f"{linked}: is a link that leads out of the folder"):
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
    with pytest.raises(BenchmarkError, match="is a link; give the path of the file itself"):
        add(site, own, tmp_path / "official.csv")


def test_the_sites_own_keys_are_not_data(site, own):
    for path in (site.keys, site.keys / "data.key"):
        with pytest.raises(BenchmarkError, match="folder named keys"):
            add(site, own, path)


def test_a_pipe_and_a_device_are_not_waited_for(site, own, tmp_path):
    os.mkfifo(tmp_path / "official.csv")
    for path in (tmp_path / "official.csv", Path("/dev/zero")):
        with pytest.raises(BenchmarkError, match="is not a regular file"):
            add(site, own, path)
    folder = tmp_path / "release"
    folder.mkdir()
    (tmp_path / "official.csv").rename(folder / "official.csv")
    with pytest.raises(BenchmarkError, match="is not a regular file"):
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
    with pytest.raises(
        BenchmarkError, match=r"more than one version of a file was found: new.csv, official.csv"
    ):
        add(site, own, folder)


def test_one_version_in_each_of_two_folders_is_refused(site, own, tmp_path):
    for name in ("v1", "v2"):
        (tmp_path / "release" / name).mkdir(parents=True)
        source(tmp_path / "release" / name, name="official.csv")
    with pytest.raises(BenchmarkError, match="in 2 folders; are these different versions"):
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
    with pytest.raises(BenchmarkError, match="leads out of its folder"):
        add(site, own, path)
    assert not (tmp_path / "official.csv").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_an_archive_are_refused(site, own, tmp_path, kind):
    with tarfile.open(tmp_path / "release.tar", "w") as archive:
        info = tarfile.TarInfo("official.csv")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(BenchmarkError, match="is a link or a device"):
        add(site, own, tmp_path / "release.tar")


@pytest.mark.parametrize("name", ["release.zip", "release.tar.gz", "release.tgz"])
def test_an_archive_that_is_none(site, own, tmp_path, name):
    with pytest.raises(BenchmarkError, match="damaged, encrypted or not of the type that its name"):
        add(site, own, source(tmp_path, name=name))
