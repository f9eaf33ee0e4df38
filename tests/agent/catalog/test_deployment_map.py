"""Deployments that run entries name: mapped to those here, missing, or not to be used."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.deployment_map import (
    DeploymentMap,
    check_deployments,
    map_deployments,
    read_deployment_map,
)
from agent.catalog.deployments import Deployment
from agent.catalog.run_entries import parse_run_entry, read_run_entries
from agent.errors import ConfigError

MEDHELMS_PUBLIC = (
    Path(__file__).parents[2] / "data" / "medhelm_run_entries" / "run_entries_medhelm_public.conf"
)


@pytest.mark.parametrize(
    ("name", "mapped"),
    [
        ("aba", "aba"),
        ("abba", "x/"),
        ("abcba", "x/c"),
        ("ab", "ab"),
        ("ba", "ba"),
        ("abcbad", "abcbad"),
    ],
)
def test_beginning_and_end_of_a_pattern_do_not_share_letters(name: str, mapped: str):
    (entry,) = map_deployments(
        [parse_run_entry(f"medec:model_deployment={name}")], {"ab*ba": "x/*"}
    )
    assert entry.model_deployment == mapped


def test_a_deprecated_deployment_serves_no_model_to_entries_that_do_not_name_it():
    old = Deployment("local/old", "qwen/qwen", "http://127.0.0.1:1/v1", "qwen", deprecated=True)
    by_model, by_name = (
        parse_run_entry(f"medec:{one}") for one in ("model=qwen/qwen", "model_deployment=local/old")
    )
    with pytest.raises(ConfigError, match="a deployment of the model qwen/qwen"):
        check_deployments([by_model], {"local/old": old})
    check_deployments([by_name], {"local/old": old})
    check_deployments(
        [by_model],
        {"local/old": old, "local/new": replace(old, name="local/new", deprecated=False)},
    )


def deployment(name: str, model: str = "", problem: str | None = None) -> Deployment:
    return Deployment(name, model or name, "http://127.0.0.1:1/v1", "served", problem=problem)


def test_deployments_that_are_not_here_are_told_together_each_once():
    entries = read_run_entries([MEDHELMS_PUBLIC])
    with pytest.raises(ConfigError) as caught:
        check_deployments(entries, {})
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 + 13
    assert "  stanfordhealthcare/llama-3.3-70b-instruct (17 entries)" in lines
    assert "--deployment-map" in caught.value.advice
    assert "stanfordhealthcare/*: local/*" in caught.value.advice


def test_models_without_a_deployment_and_deployments_that_cannot_be_used_are_told_too():
    entries = [
        parse_run_entry(d)
        for d in ("a:model=meta/llama", "b:model=meta/llama", "c:model=x,model_deployment=y")
    ]
    entries.append(parse_run_entry("d:model=qwen/qwen"))
    here = {"y": deployment("y", "x", "its client is not one"), "q": deployment("q", "qwen/qwen2")}
    with pytest.raises(ConfigError) as caught:
        check_deployments(entries, here)
    assert str(caught.value).splitlines()[1:] == [
        "  a deployment of the model meta/llama (2 entries)",
        "  y: its client is not one (1 entry)",
        "  a deployment of the model qwen/qwen (did you mean 'qwen/qwen2'?) (1 entry)",
    ]
    check_deployments(entries[3:], {"q": deployment("q", "qwen/qwen")})


def read_map(tmp_path: Path, text: str) -> DeploymentMap:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    return read_deployment_map(path)


def deployment_map(tmp_path: Path, text: str) -> Mapping[str, str]:
    return read_map(tmp_path, text).entries


def test_deployments_are_mapped_by_name_and_by_pattern(tmp_path):
    mapping = deployment_map(
        tmp_path,
        "stanfordhealthcare/gpt-*: none\n"
        "stanfordhealthcare/deepseek-r1: local/r1-awq\n"
        "stanfordhealthcare/*: local/*\n"
        "meta/llama: local/llama\n",
    )
    entries = [
        parse_run_entry(
            "medec:model=meta/llama-3,model_deployment=stanfordhealthcare/llama-3,num_output_tokens=9"
        ),
        parse_run_entry(
            "medec:model=deepseek-ai/deepseek-r1,model_deployment=stanfordhealthcare/deepseek-r1"
        ),
        parse_run_entry("medec:model=openai/gpt-4o,model_deployment=stanfordhealthcare/gpt-4o"),
        parse_run_entry("medec:model=meta/llama"),
        parse_run_entry("medec:model=a/b,model_deployment=here/b"),
    ]
    mapped = map_deployments(entries, mapping)
    assert [(e.model, e.model_deployment) for e in mapped] == [
        ("", "local/llama-3"),
        ("", "local/r1-awq"),
        ("", "local/llama"),
        ("a/b", "here/b"),
    ]
    assert mapped[0].expanders == {"num_output_tokens": "9"}
    assert "meta/llama-3" not in mapped[0].description


def test_medhelms_whole_file_asked_of_one_deployment_asks_nothing_twice(tmp_path):
    mapping = deployment_map(tmp_path, "stanfordhealthcare/*: local/qwen")
    mapped = map_deployments(read_run_entries([MEDHELMS_PUBLIC]), mapping)
    assert (
        len(mapped) == 2 * 17
    )  # with the benchmark's own limit of tokens, and with the reasoning models'
    check_deployments(mapped, {"local/qwen": deployment("local/qwen", "qwen/qwen")})


def test_a_map_that_leads_nowhere_is_told_by_its_own_lines(tmp_path):
    mapping = deployment_map(tmp_path, "x/gpt-*: here/q\nx/a: here/p\nx/*: here/none\n")
    entries = [
        parse_run_entry(f"medec:model=m/n,model_deployment={name}")
        for name in ("x/gpt-4", "x/a", "x/b", "x/c", "x/d")
    ]
    with pytest.raises(ConfigError) as caught:
        map_deployments(entries, mapping, {"here/q": deployment("here/q", "q")})
    first, *lines = str(caught.value).splitlines()
    assert "the deployment map" in first
    assert [line.replace(" (did you mean 'here/q'?)", "") for line in lines] == [
        "  'x/a': here/p (1 entry)",
        "  'x/*': here/none (3 entries)",
    ]


def test_the_same_entry_given_twice_is_not_hidden_by_a_map_that_does_not_name_it():
    entry = parse_run_entry("medec:model=a/b,model_deployment=here/b")
    assert map_deployments([entry, entry], {"x/*": "y/*"}) == [entry, entry]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected lines of the form"),
        ("- a\n- b\n", "expected lines of the form"),
        ("a/b:\n", "'a/b': expected the name of a deployment of this site"),
        ("a/b: [c/d]\n", "'a/b': expected the name of a deployment of this site"),
        ("a/*/*: c/d\n", "'a/*/*': expected at most one *"),
        ("a/b: c/*\n", "'a/b': expected at most one *"),
        ("a/b: c,model=d\n", "expected names on one line, without commas"),
        ("a/b: c\na/b: d\n", "given twice"),
        ("a/b: [c\n", "line "),
    ],
)
def test_deployment_maps_that_are_wrong(tmp_path, text, said):
    with pytest.raises(ConfigError) as caught:
        deployment_map(tmp_path, text)
    assert said in str(caught.value)
    assert "map.yaml" in str(caught.value)


def test_a_line_for_every_entry_leaves_the_judges_alone(tmp_path: Path):
    mapping = read_map(tmp_path, "openai/gpt-4o: local/judge\nx/*: none\n'*': local/qwen\n")
    assert mapping.judges == {"openai/gpt-4o": "local/judge"}
    assert mapping.entries["*"] == "local/qwen"


def test_judges_of_their_own_are_mapped_by_their_own_lines_only(tmp_path: Path):
    mapping = read_map(tmp_path, "openai/*: local/*\njudges:\n  '*': local/judge\n")
    assert mapping == DeploymentMap({"openai/*": "local/*"}, {"*": "local/judge"})
    assert read_map(tmp_path, "openai/*: local/*\njudges: {}\n").judges == {}


def test_a_deployment_called_judges_is_still_a_deployment(tmp_path: Path):
    assert read_map(tmp_path, "judges: local/judges\n").entries == {"judges": "local/judges"}


def test_a_jury_cannot_lose_a_judge_through_the_map(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"judges: 'openai/gpt-4o': .*no judge may be left out"):
        read_map(tmp_path, "judges:\n  openai/gpt-4o: none\n")
    with pytest.raises(ConfigError, match="judges: 'a': expected"):
        read_map(tmp_path, "judges:\n  a: [b]\n")
