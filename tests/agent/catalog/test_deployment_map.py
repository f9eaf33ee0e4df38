"""Names of deployments that nearly fit a pattern, and deployments that are there and are not to be used."""

from dataclasses import replace

import pytest

from agent.catalog.deployment_map import check_deployments, map_deployments
from agent.catalog.deployments import Deployment
from agent.catalog.run_entries import parse_run_entry
from agent.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "mapped"),
    [("aba", "aba"), ("abba", "x/"), ("abcba", "x/c"), ("ab", "ab"), ("ba", "ba"), ("abcbad", "abcbad")],
)
def test_beginning_and_end_of_a_pattern_do_not_share_letters(name: str, mapped: str):
    (entry,) = map_deployments([parse_run_entry(f"medec:model_deployment={name}")], {"ab*ba": "x/*"})
    assert entry.model_deployment == mapped


def test_a_deprecated_deployment_serves_no_model_to_entries_that_do_not_name_it():
    old = Deployment("local/old", "qwen/qwen", "http://127.0.0.1:1/v1", "qwen", deprecated=True)
    by_model, by_name = (parse_run_entry(f"medec:{one}") for one in ("model=qwen/qwen", "model_deployment=local/old"))
    with pytest.raises(ConfigError, match="a deployment of the model qwen/qwen"):
        check_deployments([by_model], {"local/old": old})
    check_deployments([by_name], {"local/old": old})
    check_deployments([by_model], {"local/old": old, "local/new": replace(old, name="local/new", deprecated=False)})
