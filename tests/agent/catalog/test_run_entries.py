"""HELM's run entries: what it accepts, and what a person mistypes."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.catalog.benchmark import find_benchmarks, survey_benchmarks
from agent.catalog.deployments import ad_hoc
from agent.catalog.run_entries import (
    Overrides,
    benchmark_of,
    fill_models,
    output_tokens,
    overrides,
    parse_run_entry,
    read_run_entries,
)
from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.shipped import shipped

MEDHELM = Path(__file__).parents[2] / "data" / "medhelm_configurable"
BENCHMARKS = find_benchmarks()


def test_the_form_of_medhelms_files():
    entry = parse_run_entry("medec:num_output_tokens=4000,model=deepseek-ai/deepseek-r1,model_deployment=local/r1")
    assert (entry.benchmark, entry.model, entry.model_deployment) == ("medec", "deepseek-ai/deepseek-r1", "local/r1")
    assert entry.expanders == {"num_output_tokens": "4000"}
    assert entry.arguments == {}


def test_colons_and_equals_signs_after_the_first_belong_to_the_value():
    entry = parse_run_entry("own:data_path=C:\\data=x.csv,model=a/b:c")
    assert entry.arguments == {"data_path": "C:\\data=x.csv"}
    assert entry.model == "a/b:c"


def test_a_benchmark_alone():
    entry = parse_run_entry("pubmed_qa")
    assert (entry.benchmark, entry.model, entry.arguments) == ("pubmed_qa", "", {})


def test_expanders_are_read():
    entry = parse_run_entry(
        "x:model=a/b,max_eval_instances=100,num_output_tokens=50,increase_max_tokens=5,temperature=0.7,"
        "instructions=expert,stop=hash"
    )
    assert overrides(entry) == Overrides(100, 50, 5, 0.7, ("###",), "expert")
    assert overrides(parse_run_entry("x:model=a/b")) == Overrides()
    assert overrides(parse_run_entry("x:max_eval_instances=default")).max_eval_instances == 1000


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("", "names no benchmark"),
        (":model=a/b", "names no benchmark"),
        ("x:", "expected key=value, not ''"),
        ("x:model", "expected key=value, not 'model'"),
        ("x:data_path=/a,b", "a value cannot hold a comma"),
        ("x:=y", "expected key=value"),
        ("x:model=a/b,model=c/d", "gives model twice"),
        ("x:model=a/b,num_output_tokens=many", "num_output_tokens is 'many'"),
        ("x:max_eval_instances=0", "expected a whole number above 0"),
        ("x:max_eval_instances=-5", "expected a whole number above 0"),
        ("x:temperature=hot", "temperature is 'hot'"),
        ("x:temperature=nan", "temperature is 'nan'"),
        ("x:temperature=-1", "expected a number from 0"),
        ("x:stop=now", "stop is 'now'"),
        ("x:instructions=polite", "instructions is 'polite'"),
        ("x:chatml=true", "HELM's expander chatml is not supported"),
        ("x:num_train_trials=3", "HELM's expander num_train_trials is not supported"),
    ],
)
def test_entries_that_are_wrong(description, said):
    with pytest.raises(ConfigError) as caught:
        parse_run_entry(description)
    assert said in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text):
    with contextlib.suppress(AgentError):
        assert parse_run_entry(text).description == text


@pytest.mark.parametrize("bad", ["\x1b[2J", "\n", "\0", "\u202e", "\ud800", "\u200b", "\x9b"])
@pytest.mark.parametrize("place", ["{}x:model=a/b", "x:model=a/{}b", "x:da{}ta=1,model=a/b"])
def test_an_entry_that_a_terminal_would_obey(place, bad):
    with pytest.raises(ConfigError) as caught:
        parse_run_entry(place.format(bad))
    assert f"U+{ord(bad[0]):04X}" in str(caught.value)
    assert str(caught.value).isprintable()


def test_an_entry_without_end():
    assert parse_run_entry("x:data_path=" + "y" * 1988).arguments
    with pytest.raises(ConfigError) as caught:
        parse_run_entry("x:data_path=" + "y" * 1989)
    assert "has 2001 characters; expected at most 2000" in str(caught.value)
    assert len(str(caught.value)) < 100


def test_a_broken_definition_stops_only_the_entries_that_name_it(tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\naliases: [ours]\n")
    (tmp_path / "again.yaml").write_text(
        "name: med_qa\ndescription: x\nprompt_file: p.txt\ndataset_file: d.csv\nmetrics: [{name: exact_match}]\n"
    )
    (tmp_path / "p.txt").write_text("{q}")
    found, broken = survey_benchmarks(tmp_path)
    assert benchmark_of(parse_run_entry("pubmed_qa:model=a/b"), found, broken).id == "pubmed_qa"
    for name, said in (
        ("mine", "mine.yaml: description: is required"),
        ("ours", "mine.yaml: description: is required"),
        ("med_qa", "the name 'med_qa' is already that of"),  # never the shipped one in place of the site's own
    ):
        with pytest.raises(BenchmarkError) as caught:
            benchmark_of(parse_run_entry(f"{name}:model=a/b"), found, broken)
        assert said in str(caught.value)


def test_a_configured_benchmark_may_name_its_files_by_absolute_paths(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "prompt.txt").write_text("{note}")
    (tmp_path / "data.csv").write_text("note,correct_answer\nn,a\n")
    (tmp_path / "conf" / "own.yaml").write_text(
        f"name: own\ndescription: x\nprompt_file: {tmp_path}/prompt.txt\ndataset_file: {tmp_path}/data.csv\n"
        "metrics: [{name: exact_match}]\n"
    )
    entry = parse_run_entry(f"medhelm_configurable_benchmark:config_path={tmp_path}/conf/own.yaml,model=a/b")
    assert benchmark_of(entry, {}).dataset_file == tmp_path / "data.csv"
    assert [one.names for one in survey_benchmarks(tmp_path / "conf")[1]] == [("own",)]


def test_benchmarks_are_found_by_id_and_by_helms_name():
    assert benchmark_of(parse_run_entry("med_qa:model=a/b"), BENCHMARKS).id == "med_qa"
    assert benchmark_of(parse_run_entry("medhelm_med_qa:model=a/b"), BENCHMARKS).id == "med_qa"
    assert benchmark_of(parse_run_entry("medhelm_med_mcqa:model=a/b"), BENCHMARKS).id == "med_mcqa"


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("pubmedqa:model=a/b", "there is no benchmark 'pubmedqa' (did you mean 'pubmed_qa'?)"),
        ("pubmed_qa:modle=a/b", "takes no argument 'modle' (did you mean 'model'?)"),
        ("pubmed_qa: model=a/b", "takes no argument ' model'"),
        ("pubmed_qa:condition=homelessness", "takes no argument 'condition'"),
        ("medhelm_configurable_benchmark:model=a/b", "needs config_path=FILE"),
        ("medhelm_configurable_benchmark:config_path=x.yaml,subset=1", "takes no argument 'subset'"),
    ],
)
def test_benchmarks_and_arguments_that_do_not_exist(description, said):
    with pytest.raises(ConfigError) as caught:
        benchmark_of(parse_run_entry(description), BENCHMARKS)
    assert said in str(caught.value)


def test_medhelms_conf_of_a_configurable_benchmark(monkeypatch):
    monkeypatch.chdir(MEDHELM)
    (entry,) = read_run_entries([Path("exact_match_demo.conf")])
    assert entry.model == "qwen/qwen2.5-7b-instruct"
    assert benchmark_of(entry, BENCHMARKS).id == "EXACT-MATCH-DEMO"


def test_output_tokens_for_plain_and_reasoning_models():
    benchmark = BENCHMARKS["pubmed_qa"]

    def tokens(text: str, reasoning: bool = False) -> int:
        return output_tokens(parse_run_entry(f"pubmed_qa:model=a/b{text}"), benchmark, reasoning=reasoning)

    assert tokens("") == 16
    assert tokens("", reasoning=True) == 4000
    assert tokens(",num_output_tokens=7", reasoning=True) == 7
    assert tokens(",increase_max_tokens=4") == 20
    assert tokens(",num_output_tokens=7,increase_max_tokens=4") == 11


def test_wildcards_are_filled_and_named_models_are_left():
    entries = [parse_run_entry(d) for d in ("a:model=text", "b", "c:model=x/y", "d:model=text,temperature=1")]
    filled = fill_models(entries, ["m/1", "m/2"])
    assert [(e.benchmark, e.model) for e in filled] == [
        ("a", "m/1"),
        ("a", "m/2"),
        ("b", "m/1"),
        ("b", "m/2"),
        ("c", "x/y"),
        ("d", "m/1"),
        ("d", "m/2"),
    ]
    assert filled[0].description == "a:model=m/1"
    assert filled[2].description == "b:model=m/1"
    assert filled[5].expanders == {"temperature": "1"}
    with pytest.raises(ConfigError, match="names no model"):
        fill_models(entries, [])


def test_a_model_may_be_known_by_a_name_without_a_slash_or_by_its_deployment():
    entries = [parse_run_entry("a:model=llama3:8b"), parse_run_entry("a:model_deployment=local/qwen")]
    assert fill_models(entries, []) == entries
    assert [e.model for e in fill_models(entries, ["m/1"])] == ["m/1", ""]


def test_a_served_name_without_a_slash_runs_against_a_server():
    (entry,) = fill_models([parse_run_entry("pubmed_qa:model=tiny")], [])
    assert ad_hoc("http://127.0.0.1:8000/v1", entry.model).served_model == "tiny"


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
    assert [e.benchmark for e in read_run_entries([path, path])] == ["pubmed_qa", "medec", "med_qa"] * 2
    assert [e.benchmark for e in read_run_entries([path], priority=2)] == ["pubmed_qa", "med_qa"]
    assert [e.benchmark for e in read_run_entries([path], groups=["mine"])] == ["medec"]
    assert [e.benchmark for e in read_run_entries([path], groups=["med_qa"])] == ["med_qa"]


def test_the_shipped_conf_names_every_benchmark_we_have():
    entries = read_run_entries([shipped("benchmarks") / "run_entries_public.conf"])
    assert {e.benchmark for e in entries} == set(BENCHMARKS)
    assert all(benchmark_of(e, BENCHMARKS) for e in fill_models(entries, ["a/b"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('entries: [ {description: "x:model=a/b"', "is not HOCON"),
        ("entries: 5", "expected one key `entries`"),
        ('runs: [ {description: "x"} ]', "expected one key `entries`"),
        ("[1, 2]", "not HOCON with a map of keys"),
        ("entries: [ {priority: 1} ]", "entry 1: expected a map with a text `description`"),
        ('entries: [ {description: "x", prio: 1} ]', "entry 1: unknown key 'prio' (did you mean 'priority'?)"),
        ('entries: [ {description: "x", priority: "high"} ]', "entry 1: priority is not a whole number"),
        ('entries: [ {description: "x"}, {description: "y:model"} ]', "entry 2: the run entry 'y:model'"),
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
