"""Which files a run reads: by argument, pattern and version, from folder or sample, and never from elsewhere."""

import hashlib
from pathlib import Path

import pytest

from agent.datasets.folder import hash_folder, join_digests
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError, ConfigError
from tests.agent.datasets.own import own, problem

HEAD = "note,correct_answer\n"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def site(tmp_path: Path, **files: str) -> Path:
    """Write files of the site's data for `own`; `sub__x_csv` is sub/x.csv."""
    folder = tmp_path / "data" / "own"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "data"


def described(tmp_path: Path, files: str, yaml: str = "", **more: str):
    return own(tmp_path, yaml, data=f"data:\n  loader: csv\n  files: {files}", **more)


def read(benchmark, data, **arguments):
    dataset = locate_dataset(benchmark, data, arguments)
    return dataset, [i.messages[0].content for i in load_instances(benchmark, dataset)]


def test_the_file_that_an_argument_names(tmp_path):
    benchmark = described(
        tmp_path, "[{name: '{subset}/test.csv'}]", "arguments: {subset: {required: true}}\n"
    )
    data = site(tmp_path, a__test_csv=HEAD + "in a,x\n", b__test_csv=HEAD + "in b,x\n")
    dataset, prompts = read(benchmark, data, subset="b")
    assert (dataset.names, prompts, dataset.arguments) == (
        ("b/test.csv",),
        ["in b"],
        {"subset": "b"},
    )
    assert "expected c/test.csv" in problem(benchmark, data, subset="c")


@pytest.mark.parametrize(
    "value", ["..", "../b", "a/..", "/etc", "*", "a\\b", ".hidden", "a..b", ""]
)
def test_an_argument_that_would_leave_the_folder(tmp_path, value):
    benchmark = described(tmp_path, "[{name: '{subset}/test.csv'}]", "arguments: [subset]\n")
    data = site(tmp_path, a__test_csv=HEAD + "n,x\n")
    with pytest.raises(
        ConfigError, match=r"cannot be part of a file name|which the run entry lacks"
    ):
        locate_dataset(benchmark, data, {"subset": value})


def test_a_file_name_with_a_field_that_is_no_argument(tmp_path):
    with pytest.raises(
        BenchmarkError, match=r"data\.files\[1\]\.name: 'sub' is not one of the arguments"
    ):
        described(tmp_path, "[{name: '{sub}/test.csv'}]", "arguments: [subject]\n")


def test_all_files_that_match_a_pattern_in_order_of_their_names(tmp_path):
    benchmark = described(tmp_path, "[{name: 'notes/*.csv'}]")
    data = site(
        tmp_path,
        notes__b_csv=HEAD + "b,x\n",
        notes__a_csv=HEAD + "a,x\n",
        notes__deep__c_csv="never read",
    )
    (data / "own" / "notes" / ".~lock.csv").write_text("never read")
    (data / "own" / "notes" / "z.txt").write_text("never read")
    dataset, prompts = read(benchmark, data)
    assert (dataset.names, prompts) == (("notes/a.csv", "notes/b.csv"), ["a", "b"])


def test_what_lies_in_a_hidden_folder_is_no_data(tmp_path):
    data = site(tmp_path, a__x_csv=HEAD + "n,x\n")
    (data / "own" / ".coming").mkdir()
    (data / "own" / ".coming" / "x.csv").write_text("never read")
    assert read(described(tmp_path, "[{name: '*/x.csv'}]"), data)[0].names == ("a/x.csv",)


def test_a_pattern_is_known_by_the_joint_digest_of_its_files(tmp_path):
    texts = {"a.csv": HEAD + "a,x\n", "b.csv": HEAD + "b,x\n"}
    joint = join_digests({name: sha(text) for name, text in texts.items()})
    benchmark = described(tmp_path, f"[{{name: '*.csv', sha256: {joint}, rows: 2, version: v9}}]")
    data = site(tmp_path, a_csv=texts["a.csv"], b_csv=texts["b.csv"])
    dataset, _ = read(benchmark, data)
    assert (dataset.known, dataset.versions, dataset.expected_instances) == ("official", ("v9",), 2)
    (data / "own" / "c.csv").write_text(HEAD + "c,x\n")
    assert locate_dataset(benchmark, data).known == "unknown"


def test_brackets_and_commas_in_a_name_mean_themselves(tmp_path):
    benchmark = described(tmp_path, "[{name: 'set [1], final/*.csv'}]")
    data = site(
        tmp_path, **{"set [1], final__x,y_csv": HEAD + "n,x\n", "set 1, final__z_csv": "never read"}
    )
    assert read(benchmark, data)[0].names == ("set [1], final/x,y.csv",)


def test_a_path_with_commas_is_a_path(tmp_path):
    benchmark = own(tmp_path, data="dataset_file: 'a, b.csv'", **{"a, b_csv": HEAD + "n,x\n"})
    assert [
        i.messages[0].content for i in load_instances(benchmark, locate_dataset(benchmark))
    ] == ["n"]


OLD, NEW = HEAD + "old,x\n", HEAD + "new,x\nnew,y\n"


def versions() -> str:
    return (
        f"[{{name: test.csv, version: v1.0, sha256: {sha(OLD)}, rows: 1, versions: "
        f"[{{version: v1.2, name: test_v2.csv, sha256: {sha(NEW)}, rows: 2}}]}}]"
    )


@pytest.mark.parametrize(
    ("name", "text", "known", "label", "count"),
    [
        ("test_csv", OLD, "official", ("v1.0",), 1),
        ("test_csv", NEW, "official", ("v1.2",), 2),
        ("test_csv", NEW + "z,z\n", "unknown", (), None),
        ("anything_csv", NEW, "official", ("v1.2",), 2),
    ],
)
def test_a_version_is_known_by_its_bytes(tmp_path, name, text, known, label, count):
    dataset = locate_dataset(described(tmp_path, versions()), site(tmp_path, **{name: text}))
    assert (dataset.known, dataset.versions, dataset.expected_instances) == (known, label, count)
    assert bool(dataset.problems) == (known == "unknown")


def test_a_further_version_is_found_under_its_own_name(tmp_path):
    benchmark = described(tmp_path, versions())
    data = site(tmp_path)
    (data / "own" / "test_v2.csv").write_text(NEW)
    (data / "own" / "README").write_text("not data")
    dataset = locate_dataset(benchmark, data)
    assert (dataset.names, dataset.known, dataset.versions) == (
        ("test_v2.csv",),
        "official",
        ("v1.2",),
    )


def test_files_of_two_versions_are_no_official_dataset(tmp_path):
    files = (
        f"[{{name: a.csv, version: v1, sha256: {sha(OLD)}, rows: 1}}, "
        f"{{name: b.csv, version: v2, sha256: {sha(NEW)}, rows: 2}}]"
    )
    dataset = locate_dataset(described(tmp_path, files), site(tmp_path, a_csv=OLD, b_csv=NEW))
    assert (dataset.known, dataset.problems) == (
        "unknown",
        ("the files belong to several versions: v1, v2",),
    )


def test_a_versions_name_says_for_which_argument_its_digest_is(tmp_path):
    files = (
        f"[{{name: '{{subset}}/test.csv', versions: [{{name: a/test.csv, sha256: {sha(OLD)}, rows: 1}}, "
        f"{{name: b/test.csv, sha256: {sha(NEW)}, rows: 2}}]}}]"
    )
    benchmark = described(tmp_path, files, "arguments: {subset: {required: true}}\n")
    data = site(tmp_path, a__test_csv=OLD, b__test_csv=OLD)
    assert locate_dataset(benchmark, data, {"subset": "a"}).known == "official"
    assert (
        locate_dataset(benchmark, data, {"subset": "b"}).known == "unknown"
    )  # a's file under b's name
    (data / "own" / "b" / "test.csv").unlink()
    with pytest.raises(BenchmarkError, match=r"expected b/test\.csv"):  # and never a's in its place
        locate_dataset(benchmark, data, {"subset": "b"})


def test_a_known_version_with_another_count_is_an_error(tmp_path):
    benchmark = described(tmp_path, f"[{{name: test.csv, sha256: {sha(NEW)}, rows: 3}}]")
    assert "2 instances, but the known version has 3" in problem(
        benchmark, site(tmp_path, test_csv=NEW)
    )


def test_a_count_is_not_expected_of_some_of_the_rows(tmp_path):
    text = "note,correct_answer,kind\nn,a,x\nm,a,y\n"
    yaml = 'arguments: {kind: {column: kind, default: ""}}\n'
    benchmark = described(tmp_path, f"[{{name: test.csv, sha256: {sha(text)}, rows: 2}}]", yaml)
    data = site(tmp_path, test_csv=text)
    assert read(benchmark, data, kind="x")[1] == ["n"]
    assert len(read(benchmark, data)[1]) == 2


@pytest.mark.parametrize(
    ("argument", "value", "held"),
    [
        ("{values: [whole, short], default: whole}", "whole", True),
        (
            "{values: [whole, short], default: whole}",
            "short",
            False,
        ),  # the loader may read other rows, as MTSamples' does
        ("{kind: tokens}", "50", True),  # prompts become shorter, not fewer
        ("{}", "x", False),
        ("{}", None, True),
    ],
)
def test_a_count_is_expected_with_arguments_at_their_defaults(tmp_path, argument, value, held):
    text = HEAD + "n,x\n"
    files = f"[{{name: a.csv, sha256: {sha(text)}, rows: 1}}]"
    benchmark = described(tmp_path, files, f"arguments: {{way: {argument}}}\n")
    dataset = locate_dataset(benchmark, site(tmp_path, a_csv=text), {"way": value} if value else {})
    assert dataset.expected_instances == (1 if held else None)


def test_a_note_on_a_version_is_told_with_it_and_takes_nothing_from_it(tmp_path):
    text, other = HEAD + "n,x\n", HEAD + "m,x\n"
    later = f"versions: [{{version: v2, sha256: {sha(other)}, note: few rows}}]"
    benchmark = described(tmp_path, f"[{{name: a.csv, sha256: {sha(text)}, {later}}}]")
    data = site(tmp_path, a_csv=other)
    for arguments in ({}, {"data_path": str(data / "own" / "a.csv")}):
        dataset = locate_dataset(benchmark, data, arguments)
        assert (dataset.known, dataset.problems) == ("official", ("few rows",))
    assert locate_dataset(benchmark, site(tmp_path, a_csv=text)).problems == ()


def test_data_of_which_no_digest_is_published_is_not_called_another_version(tmp_path):
    data = site(tmp_path, a_csv=HEAD + "n,x\n")
    dataset = locate_dataset(described(tmp_path, "[{name: a.csv}]"), data)
    assert (dataset.known, dataset.problems) == (
        "unknown",
        ("no published digest to compare with",),
    )


def test_an_optional_file_may_be_absent(tmp_path):
    files = (
        f"[{{name: test.csv, sha256: {sha(OLD)}, rows: 1}}, "
        f"{{name: more.csv, sha256: {sha(NEW)}, rows: 2, optional: true}}]"
    )
    benchmark = described(tmp_path, files)
    assert locate_dataset(benchmark, site(tmp_path, test_csv=OLD)).known == "official"
    both = locate_dataset(benchmark, site(tmp_path, more_csv=NEW))
    assert (both.known, both.expected_instances) == ("official", 3)


@pytest.mark.parametrize("place", ["test.csv", "other.csv", "sub/test.csv", "sub"])
def test_a_link_out_of_the_datasets_folder_is_refused_by_name(tmp_path, place):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "test.csv").write_text(HEAD + "n,x\n")
    name = "sub/test.csv" if place.startswith("sub") else "test.csv"
    benchmark = described(
        tmp_path, f"[{{name: {name}}}]" if place != "other.csv" else "[{name: test.csv}]"
    )
    data = site(tmp_path)
    link = data / "own" / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside if place == "sub" else outside / "test.csv")
    assert "is a link that leads out of the dataset's folder" in problem(benchmark, data)


def test_a_pattern_does_not_follow_a_link_out_of_the_folder(tmp_path):
    (tmp_path / "secret.csv").write_text(HEAD + "n,x\n")
    data = site(tmp_path, a_csv=HEAD + "n,x\n")
    (data / "own" / "b.csv").symlink_to(tmp_path / "secret.csv")
    said = problem(described(tmp_path, "[{name: '*.csv'}]"), data)
    assert said.startswith("b.csv: is a link that leads out")


def test_links_within_the_folder_and_a_folder_that_is_a_link_are_followed(tmp_path):
    (tmp_path / "disk" / "own").mkdir(parents=True)
    (tmp_path / "disk" / "own" / "real.csv").write_text(HEAD + "n,x\n")
    (tmp_path / "disk" / "own" / "test.csv").symlink_to("real.csv")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "own").symlink_to(tmp_path / "disk" / "own")
    assert read(described(tmp_path, "[{name: test.csv}]"), tmp_path / "data")[1] == ["n"]


def with_sample(tmp_path: Path, extra: str = "", **files: str) -> str:
    """Write a sample folder and return the definition's `data`."""
    for name, text in files.items():
        path = tmp_path / "invented_sample" / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    digest = hash_folder(tmp_path / "invented_sample")
    return (
        "data:\n  loader: csv\n  files: [{name: '{subset}/test.csv'}]\n"
        f"  sample: {{folder: invented_sample, sha256: {digest}, rows: 1, invented: true{extra}}}"
    )


ARGUMENT = "arguments: {subset: {values: [a, b], required: true}}\n"


def test_a_sample_folder_has_the_official_layout_and_arguments_of_its_own(tmp_path):
    data = with_sample(tmp_path, ", arguments: {subset: a}", a__test_csv=HEAD + "in a,x\n")
    benchmark = own(tmp_path, ARGUMENT, data=data)
    dataset, prompts = read(benchmark, tmp_path / "nothing")
    assert (dataset.known, dataset.arguments, prompts) == ("invented", {"subset": "a"}, ["in a"])
    assert dataset.problems == ("a sample, not the whole dataset",)
    said = problem(benchmark, None, subset="b")
    assert said == "own: no data found, and the shipped sample only has files for subset=a"


def test_a_changed_sample_folder_is_refused(tmp_path):
    data = with_sample(tmp_path, ", arguments: {subset: a}", a__test_csv=OLD, b__test_csv=NEW)
    benchmark = own(tmp_path, ARGUMENT, data=data)
    assert read(benchmark, None, subset="b")[1] == [
        "new",
        "new",
    ]  # its count is that of the usual arguments
    (tmp_path / "invented_sample" / "b" / "test.csv").write_text(OLD)
    assert "the sample invented_sample was changed" in problem(benchmark)


def test_a_record_of_what_was_put_in_is_no_data(tmp_path):
    data = site(tmp_path)
    (data / "own" / ".dataset.json").write_text("{}")
    benchmark = own(
        tmp_path, ARGUMENT, data=with_sample(tmp_path, ", arguments: {subset: a}", a__test_csv=OLD)
    )
    assert locate_dataset(benchmark, data).known == "invented"


def test_a_folder_that_the_run_entry_names_is_read_like_the_sites_own(tmp_path):
    benchmark = described(tmp_path, "[{name: '{subset}/*.csv'}]", ARGUMENT)
    data = site(tmp_path, a__1_csv=OLD, a__2_csv=NEW)
    dataset, prompts = read(benchmark, None, subset="a", data_path=str(data / "own"))
    assert (dataset.names, len(prompts)) == (("a/1.csv", "a/2.csv"), 3)
    assert read(benchmark, None, subset="a", data_path=str(data / "own" / "a" / "1.csv"))[1] == [
        "old"
    ]


def test_the_order_of_names_and_their_bytes_decide_the_datasets_digest(tmp_path):
    benchmark = described(tmp_path, "[{name: '*.csv'}]")
    data = site(tmp_path, a_csv=OLD, b_csv=NEW)
    digest = locate_dataset(benchmark, data).digest
    assert digest == sha(f"{sha(OLD)}  a.csv\n{sha(NEW)}  b.csv\n")
    site(tmp_path, a_csv=NEW, b_csv=OLD)
    assert locate_dataset(benchmark, data).digest != digest


def test_problems_of_all_files_come_at_once(tmp_path):
    benchmark = described(tmp_path, "[{name: '*.csv'}]")
    data = site(tmp_path, a_csv=HEAD + "n,\n", b_csv=HEAD + "n,a\n", c_csv=HEAD + ",a\n,a\n")
    assert problem(benchmark, data).split("\n") == [
        "a.csv: row 1 (line 2): the column 'correct_answer' is empty",
        "c.csv: row 1 (line 2): the column 'note' is empty",
        "c.csv: row 2 (line 3): the column 'note' is empty",
    ]


def test_after_a_hundred_problems_no_further_file_is_read(tmp_path):
    benchmark = described(tmp_path, "[{name: '*.csv'}]")
    data = site(tmp_path, **{f"{i:03}_csv": HEAD + "n,\n" for i in range(150)})
    assert len(problem(benchmark, data).split("\n")) == 100


def test_an_id_that_two_files_share_is_named_in_the_second(tmp_path):
    benchmark = described(tmp_path, "[{name: '*.csv'}]", "id_column: note\n")
    data = site(tmp_path, a_csv=HEAD + "n,a\n", b_csv=HEAD + "m,a\nn,a\n")
    assert (
        problem(benchmark, data)
        == "b.csv: row 2 (line 3): has the same 'note' as a.csv: row 1 (line 2)"
    )
