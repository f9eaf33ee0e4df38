"""Conf files of run entries, in HELM's form: their priorities and groups, and those that are refused."""

from pathlib import Path

import pytest

from agent.catalog.run_entries import read_run_entries
from agent.errors import ConfigError

CONF = """
# A comment, and include "nothing" nowhere.
entries: [
  {description: "pubmed_qa:model=a/b", priority: 1},
  {description: "medec:model=a/b", priority: 3, groups: ["mine"]}
  {description: "med_qa:model=a/b"},
]
"""


def conf(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "runs.conf"
    path.write_text(text.replace('and include "nothing" nowhere', "nothing more"))
    return path


def test_conf_files_with_priorities_and_groups(tmp_path):
    path = conf(tmp_path, CONF)
    assert [e.benchmark for e in read_run_entries([path, path])] == [
        "pubmed_qa",
        "medec",
        "med_qa",
    ] * 2
    assert [e.benchmark for e in read_run_entries([path], priority=2)] == ["pubmed_qa", "med_qa"]
    assert [e.benchmark for e in read_run_entries([path], groups=["mine"])] == ["medec"]
    assert [e.benchmark for e in read_run_entries([path], groups=["med_qa"])] == ["med_qa"]


def test_filters_that_leave_no_entry_are_named_with_the_known_groups(tmp_path):
    path = conf(tmp_path, CONF)
    with pytest.raises(ConfigError) as caught:
        read_run_entries([path], groups=["pubmed"])
    assert str(caught.value) == (
        "--groups-to-run pubmed leaves none of the 3 run entries of the conf files (did you mean 'pubmed_qa'?)"
    )
    assert caught.value.advice == (
        "Known groups, which include the benchmarks: med_qa, medec, mine, pubmed_qa."
    )
    with pytest.raises(ConfigError, match="--groups-to-run mine and --priority 2 leaves none"):
        read_run_entries([path], groups=["mine"], priority=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('entries: [ {description: "x:model=a/b"', "HOCON syntax error"),
        ("entries: 5", "expected a list under the single key `entries`"),
        ('runs: [ {description: "x"} ]', "expected a list under the single key `entries`"),
        ("[1, 2]", "expected HOCON with a map of keys"),
        ("entries: [ {priority: 1} ]", "entry 1: expected a map with a string `description`"),
        (
            'entries: [ {description: "x", prio: 1} ]',
            "entry 1: unknown key 'prio' (did you mean 'priority'?)",
        ),
        (
            'entries: [ {description: "x", priority: "high"} ]',
            "entry 1: priority must be a whole number",
        ),
        (
            'entries: [ {description: "x"}, {description: "y:model"} ]',
            "entry 2: the run entry 'y:model'",
        ),
        ("entries: [ {description: ${HOME}} ]", "line 1: substitution"),
        ('entries: [\n {description: "x:model="${?HOME}} ]', "line 2: substitution"),
        ('entries: [ {description: """x:model=${HOME}"""} ]', "line 1: substitution"),
        ('include "other.conf"', "`include` is not supported"),
        ('include url("http://127.0.0.1/x.conf")', "`include` is not supported"),
        ('{ include required(file("/etc/passwd")) }', "`include` is not supported"),
    ],
)
def test_conf_files_that_are_wrong(tmp_path, text, said):
    with pytest.raises(ConfigError) as caught:
        read_run_entries([conf(tmp_path, text)])
    assert said in str(caught.value)


def test_a_conf_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_run_entries([tmp_path / "nowhere.conf"])
