"""HELM's run entries: what it accepts, and what a person mistypes."""

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.catalog.benchmark import survey_benchmarks
from agent.catalog.conf_file import read_conf_file
from agent.catalog.deployments import make_server_deployment
from agent.catalog.run_entries import (
    Overrides,
    check_data_paths,
    compute_token_limit,
    fill_models,
    ignore_data_paths,
    parse_run_entry,
    read_overrides,
    read_run_entries,
    resolve_benchmark,
)
from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.io.packaged import shipped
from tests.agent.catalog.shipped import BENCHMARKS

ENTRIES = Path(__file__).parents[2] / "data" / "medhelm_run_entries"
MEDHELM = Path(__file__).parents[2] / "data" / "medhelm_configurable"


def test_the_form_of_medhelms_files():
    entry = parse_run_entry(
        "medec:num_output_tokens=4000,model=deepseek-ai/deepseek-r1,model_deployment=local/r1"
    )
    assert (entry.benchmark, entry.model, entry.model_deployment) == (
        "medec",
        "deepseek-ai/deepseek-r1",
        "local/r1",
    )
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
        "instructions=expert,stop=hash,max_train_instances=5"
    )
    assert read_overrides(entry) == Overrides(100, 50, 5, 0.7, ("###",), "expert", 5)
    assert read_overrides(parse_run_entry("x:model=a/b")) == Overrides()
    assert (
        read_overrides(parse_run_entry("x:max_eval_instances=default")).max_eval_instances == 1000
    )
    assert read_overrides(parse_run_entry("x:max_train_instances=zero")).max_train_instances == 0


def test_expanders_that_ask_for_what_is_done_anyway_change_nothing():
    entry = parse_run_entry(
        "x:num_train_trials=1,num_outputs=1,num_trials=1,eval_split=test,model=a/b"
    )
    assert (entry.arguments, entry.expanders) == ({}, {})
    assert parse_run_entry("x:num_outputs=default,model=a/b").expanders == {}


def test_every_expander_of_helms_is_done_or_refused_by_name():
    """The keys of RUN_EXPANDERS in HELM's run_expander.py: none of them is taken for a benchmark's argument."""
    helms = (
        "instructions prompt newline stop format_prompt follow_format_instructions add_to_stop global_prefix "
        "num_train_trials max_train_instances max_eval_instances num_outputs num_trials model model_deployment "
        "data_augmentation tokenizer num_prompt_tokens num_output_tokens chatml eval_split output_format_instructions "
        "temperature increase_temperature increase_max_tokens process_output"
    )
    values = {"instructions": "none", "stop": "none", "eval_split": "test"}
    refused: dict[str, ConfigError] = {}
    for name in helms.split():
        try:
            assert parse_run_entry(f"x:{name}={values.get(name, '1')}").arguments == {}
        except ConfigError as why:
            refused[name] = why
    assert len(refused) == 13
    for name, why in refused.items():
        assert f"HELM's expander {name} is not supported" in str(why)
        assert why.advice != ConfigError.advice, f"{name}: says what to do instead"


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("", "lacks a benchmark"),
        (":model=a/b", "lacks a benchmark"),
        ("x:", "expected key=value, not ''"),
        ("x:model", "expected key=value, not 'model'"),
        ("x:data_path=/a,b", "a value cannot contain a comma"),
        ("x:=y", "expected key=value"),
        ("x:model=a/b,model=c/d", "has model twice"),
        ("x:model=a/b,num_output_tokens=many", "num_output_tokens is 'many'"),
        ("x:max_eval_instances=0", "expected a whole number above 0"),
        ("x:max_eval_instances=-5", "expected a whole number above 0"),
        ("x:temperature=hot", "temperature is 'hot'"),
        ("x:temperature=nan", "temperature is 'nan'"),
        ("x:temperature=-1", "expected a number from 0"),
        ("x:stop=now", "stop is 'now'"),
        ("x:instructions=polite", "instructions is 'polite'"),
        ("x:chatml=true", "HELM's expander chatml is not supported"),
        (
            "x:num_train_trials=3",
            "num_train_trials is '3', but only num_train_trials=1 is supported",
        ),
        ("x:num_outputs=copyright_sweep", "only num_outputs=1 is supported"),
        ("x:num_trials=heim_efficiency", "only num_trials=1 is supported"),
        ("x:eval_split=valid", "only eval_split=test is supported"),
        ("x:max_train_instances=-1", "expected a whole number from 0"),
        ("x:max_train_instances=big_bench_few_shot_setting", "expected a whole number from 0"),
        ("x:num_output_tokens=default_sweep", "expected a whole number above 0"),
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
    assert (
        resolve_benchmark(parse_run_entry("pubmed_qa:model=a/b"), found, broken).id == "pubmed_qa"
    )
    for name, said in (
        ("mine", "mine.yaml: description: is required"),
        ("ours", "mine.yaml: description: is required"),
        (
            "med_qa",
            "the name 'med_qa' is already used by",
        ),  # never the shipped one in place of the site's own
    ):
        with pytest.raises(BenchmarkError) as caught:
            resolve_benchmark(parse_run_entry(f"{name}:model=a/b"), found, broken)
        assert said in str(caught.value)


def test_a_configured_benchmark_may_name_its_files_by_absolute_paths(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "prompt.txt").write_text("{note}")
    (tmp_path / "data.csv").write_text("note,correct_answer\nn,a\n")
    (tmp_path / "conf" / "own.yaml").write_text(
        f"name: own\ndescription: x\nprompt_file: {tmp_path}/prompt.txt\ndataset_file: {tmp_path}/data.csv\n"
        "metrics: [{name: exact_match}]\n"
    )
    entry = parse_run_entry(
        f"medhelm_configurable_benchmark:config_path={tmp_path}/conf/own.yaml,model=a/b"
    )
    assert resolve_benchmark(entry, {}).dataset_file == tmp_path / "data.csv"
    assert [one.names for one in survey_benchmarks(tmp_path / "conf")[1]] == [("own",)]


def test_benchmarks_are_found_by_id_and_by_helms_name():
    assert resolve_benchmark(parse_run_entry("med_qa:model=a/b"), BENCHMARKS).id == "med_qa"
    assert resolve_benchmark(parse_run_entry("medhelm_med_qa:model=a/b"), BENCHMARKS).id == "med_qa"
    assert (
        resolve_benchmark(parse_run_entry("medhelm_med_mcqa:model=a/b"), BENCHMARKS).id
        == "med_mcqa"
    )


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("pubmedqa:model=a/b", "there is no benchmark 'pubmedqa' (did you mean 'pubmed_qa'?)"),
        ("pubmed_qa:modle=a/b", "takes no argument 'modle' (did you mean 'model'?)"),
        ("pubmed_qa: model=a/b", "takes no argument ' model'"),
        ("pubmed_qa:condition=homelessness", "takes no argument 'condition'"),
        ("medhelm_configurable_benchmark:model=a/b", "needs config_path=FILE"),
        (
            "medhelm_configurable_benchmark:config_path=x.yaml,subset=1",
            "takes no argument 'subset'",
        ),
    ],
)
def test_benchmarks_and_arguments_that_do_not_exist(description, said):
    with pytest.raises(ConfigError) as caught:
        resolve_benchmark(parse_run_entry(description), BENCHMARKS)
    assert said in str(caught.value)


def test_medhelms_conf_of_a_configurable_benchmark(monkeypatch):
    monkeypatch.chdir(MEDHELM)
    (entry,) = read_run_entries([Path("exact_match_demo.conf")])
    assert entry.model == "qwen/qwen2.5-7b-instruct"
    assert resolve_benchmark(entry, BENCHMARKS).id == "EXACT-MATCH-DEMO"


def test_output_tokens_for_plain_and_reasoning_models():
    benchmark = BENCHMARKS["pubmed_qa"]

    def tokens(text: str, reasoning: bool = False) -> int:
        return compute_token_limit(
            parse_run_entry(f"pubmed_qa:model=a/b{text}"), benchmark, reasoning=reasoning
        )

    assert tokens("") == 16
    assert tokens("", reasoning=True) == 4000
    assert tokens(",num_output_tokens=7", reasoning=True) == 7
    assert tokens(",increase_max_tokens=4") == 20
    assert tokens(",num_output_tokens=7,increase_max_tokens=4") == 11


def test_wildcards_are_filled_and_entries_of_other_models_are_left_out_as_in_helm():
    entries = [
        parse_run_entry(d)
        for d in ("a:model=text", "b", "c:model=x/y", "d:model=text,temperature=1")
    ]
    filled = fill_models(entries, ["m/1", "m/2"])
    assert [(e.benchmark, e.model) for e in filled] == [
        ("a", "m/1"),
        ("a", "m/2"),
        ("b", "m/1"),
        ("b", "m/2"),
        ("d", "m/1"),
        ("d", "m/2"),
    ]
    assert filled[0].description == "a:model=m/1"
    assert filled[2].description == "b:model=m/1"
    assert filled[4].expanders == {"temperature": "1"}
    assert [(e.benchmark, e.model) for e in fill_models(entries, ["x/y"])] == [
        (name, "x/y") for name in "abcd"
    ]
    with pytest.raises(ConfigError, match="lacks a model"):
        fill_models(entries, [])
    with pytest.raises(ConfigError, match="no run entry is for m/1"):
        fill_models([entries[2]], ["m/1"])


def test_a_model_may_be_known_by_a_name_without_a_slash_or_by_its_deployment():
    entries = [
        parse_run_entry("a:model=llama3:8b"),
        parse_run_entry("a:model_deployment=local/qwen"),
    ]
    assert fill_models(entries, []) == entries
    assert [e.model for e in fill_models(entries, ["m/1"])] == ["m/1"]
    assert [e.model for e in fill_models(entries, ["m/1", "local/qwen"])] == [
        "m/1",
        "local/qwen",
        "",
    ]


def test_a_served_name_without_a_slash_runs_against_a_server():
    (entry,) = fill_models([parse_run_entry("pubmed_qa:model=tiny")], [])
    assert make_server_deployment("http://127.0.0.1:8000/v1", entry.model).served_model == "tiny"


SHIPPED = {"public": "run_entries_public.conf", "gated": "run_entries_gated.conf"} | {
    "private": "run_entries_private.conf.template"
}


@pytest.mark.parametrize("access", SHIPPED)
def test_the_shipped_files_name_every_benchmark_of_their_access_level(access):
    entries = read_run_entries([shipped("benchmarks") / SHIPPED[access]])
    assert {entry.model for entry in entries} == {"text"}
    asked = {resolve_benchmark(entry, BENCHMARKS).id for entry in fill_models(entries, ["a/b"])}
    assert asked == {name for name, benchmark in BENCHMARKS.items() if benchmark.access == access}


@pytest.mark.parametrize("access", SHIPPED)
def test_the_shipped_files_say_by_category_and_priority_what_the_definitions_say(access):
    path = shipped("benchmarks") / SHIPPED[access]
    for item in read_conf_file(path):
        benchmark = resolve_benchmark(parse_run_entry(item.description), BENCHMARKS)
        assert item.groups == (benchmark.category.lower().replace(" ", "_"),), item
        assert item.priority == (2 if benchmark.main_metric.name == "jury_score" else 1), item


@pytest.mark.parametrize("access", SHIPPED)
def test_the_shipped_files_ask_what_medhelms_own_ask(access):
    """The same benchmarks with the same arguments, but for Stanford's models and paths."""

    def asked(path: Path) -> set[tuple[str, tuple[tuple[str, str], ...], str | None]]:
        # MedHELM gives max_length=100000, which is the definitions' own default.
        left_out = {"data_path", "max_length"}
        return {
            (
                resolve_benchmark(entry, BENCHMARKS).id,
                tuple(
                    sorted(
                        (key, value)
                        for key, value in entry.arguments.items()
                        if key not in left_out
                    )
                ),
                entry.expanders.get("max_eval_instances"),
            )
            for entry in read_run_entries([path])
        }

    assert asked(shipped("benchmarks") / SHIPPED[access]) == asked(MEDHELMS_OWN[access][0])


MEDHELMS_OWN = {
    name.partition("_")[0]: (ENTRIES / f"run_entries_medhelm_{name}.conf", count)
    for name, count in {"public": 221, "gated": 143, "private_stanford": 338, "dspy": 64}.items()
}


@pytest.mark.parametrize("name", MEDHELMS_OWN)
def test_medhelms_own_files_load_unchanged(name):
    path, count = MEDHELMS_OWN[name]
    entries = read_run_entries([path])
    assert len(entries) == count
    assert fill_models(entries, []) == entries
    for entry in entries:
        assert resolve_benchmark(entry, BENCHMARKS)
        assert entry.model.partition("/")[2]
        assert entry.model_deployment.partition("/")[2]
        tokens = re.search(r"num_output_tokens=(\d+)", entry.description)
        assert read_overrides(entry).num_output_tokens == (int(tokens[1]) if tokens else None)
        if re.search(
            r"deepseek-r1|/o3|/o4|gpt-5|gemini-2.5", entry.model
        ):  # models that think first
            assert (
                compute_token_limit(entry, resolve_benchmark(entry, BENCHMARKS), reasoning=False)
                >= 4000
            )
        assert read_overrides(entry).max_eval_instances == (
            100 if entry.benchmark == "clear" else None
        )


def test_data_that_is_not_here_is_told_together_and_can_be_ignored(tmp_path):
    entries = read_run_entries([MEDHELMS_OWN["gated"][0]])
    (tmp_path / "here.csv").touch()
    entries.append(parse_run_entry(f"medec:data_path={tmp_path}/here.csv,model=a/b"))
    with pytest.raises(ConfigError) as caught:
        check_data_paths(entries)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 + 7
    assert "  /share/pi/nigam/data/rrs-mimiciii/all (13 entries)" in lines
    assert "--ignore-data-paths" in caught.value.advice
    ignored = ignore_data_paths(entries)
    assert len(ignored) == len(entries)
    assert not any(
        "data_path" in entry.arguments or "data_path" in entry.description for entry in ignored
    )
    assert ignored[0].arguments == {"max_length": "100000", "subject": "guo_readmission"}
    check_data_paths(ignored)


def test_a_jury_file_belongs_to_benchmarks_with_a_jury():
    assert resolve_benchmark(
        parse_run_entry("aci_bench:jury_config_path=judges.yaml,model=a/b"), BENCHMARKS
    )
    with pytest.raises(ConfigError, match="takes no argument 'jury_config_path'"):
        resolve_benchmark(
            parse_run_entry("med_qa:jury_config_path=judges.yaml,model=a/b"), BENCHMARKS
        )
