"""The jury of a run: which file names it, and which juries are refused before anything is asked."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.deployments import Deployment
from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError
from agent.judging.jury_selection import describe_equal_judges
from agent.metrics import Judge
from agent.site.directory import Site
from agent.vocabulary import Reason, Unscored
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import (
    deploy,
    judge_server,
    kept,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import NOWHERE, run

ENTRY = "open:model=m"


@pytest.mark.parametrize(
    ("jury", "said"),
    [
        (
            "judges:\n- {name: x, model: test/x, model_deployment: local/x}\n",
            "the jury names the deployment 'local/x'",
        ),
        ("judges:\n- {name: a, model: test/x, model_deployment: local/a}\n", "serves 'test/a'"),
        ("quorum: 2\njudges:\n- {name: a, model: test/a, model_deployment: local/a}\n", "quorum"),
    ],
)
def test_a_jury_that_cannot_sit_is_refused_before_anything_is_asked(
    site: Site, jury: str, said: str
):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model:
        deploy(site, {"a": "http://127.0.0.1:9/v1"})
        site.judges.write_text(jury)
        with pytest.raises(ConfigError, match=said):
            run(site, model.url, ENTRY)
        assert model.asked == []


def test_a_run_entry_names_its_jury_and_a_deployment_map_finds_it_here(site: Site, tmp_path: Path):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict(2, 2))) as a:
        deploy(site, {"m": model.url, "a": a.url, "b": NOWHERE})
        site.deployments.write_text(
            site.deployments.read_text().replace("name: judge", "name: m", 1)
        )
        write_jury(site.judges, "b")  # the site's own is passed over
        theirs = tmp_path / "theirs.yaml"
        theirs.write_text("judges:\n- {name: g, model: openai/g, model_deployment: stanford/a}\n")
        mapping = tmp_path / "map.yaml"
        mapping.write_text("theirs/m: local/m\nstanford/*: local/*\n")
        entry = f"open:model=theirs/m,jury_config_path={theirs}"
        run(site, None, entry, deployment_map=mapping)  # type: ignore[arg-type]
        assert kept(site)[0] == [2.0] * 3
        with site.store() as store:
            (one,) = store.runs.select("s")
        assert one.details.metrics[0].judges == (Judge("local/a", "test/a"),)
        assert str(tmp_path) not in one.name
        assert (
            "data=" not in one.name
        )  # the same data: another jury is the same run, and refused without --replace
        assert not one.details.data.named


@pytest.mark.parametrize(
    ("lines", "judge"), [("", "local/a"), ("judges:\n  local/*: local/b\n", "local/b")]
)
def test_a_map_of_every_entry_to_one_model_does_not_make_it_its_own_judge(
    site: Site, tmp_path: Path, lines: str, judge: str
):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict(2, 2))) as a:
        deploy(site, {"m": model.url, "a": a.url, "b": a.url})
        site.deployments.write_text(
            site.deployments.read_text().replace("name: judge", "name: m", 1)
        )
        write_jury(site.judges, "a")
        mapping = tmp_path / "map.yaml"
        mapping.write_text(f"'*': local/m\n{lines}")
        run(site, None, "open:model=theirs/m", deployment_map=mapping)  # type: ignore[arg-type]
        with site.store() as store:
            (one,) = store.runs.select("s")
        (seat,) = one.details.metrics[0].judges
        assert seat.model_deployment == judge


def test_a_jury_file_that_is_not_there_is_said_unless_nobody_judges(site: Site, tmp_path: Path):
    open_benchmark(site)
    entry = f"open:model=m,jury_config_path={tmp_path / 'none.yaml'}"
    with FaultServer(models=["m"], answer="Words") as model:
        with pytest.raises(ConfigError, match=r"none\.yaml"):
            run(site, model.url, entry)
        assert model.asked == []
        run(site, model.url, entry, no_judging=True)
        assert kept(site)[0] == [Unscored(Reason.NOT_JUDGED)] * 3


def test_two_seats_of_one_model_are_one_opinion_also_if_their_deployments_differ():
    here = Deployment("local/a", "test/a", "http://127.0.0.1:1/v1", "a")
    same = replace(here, name="test/a")
    elsewhere = replace(here, name="local/b", base_url="http://127.0.0.1:2/v1")
    deployments = {each.name: each for each in (here, same, elsewhere)}
    by_model, by_deployment = Judge("", "test/a", "one"), Judge("local/a", "test/a", "two")
    (warning,) = describe_equal_judges((by_model, by_deployment), deployments)
    assert warning.startswith("the seats one, two always give the same verdict and are one opinion")
    (warning,) = describe_equal_judges((Judge("test/a", "test/a"), by_deployment), deployments)
    assert "each asks test/a at temperature 0" in warning
    assert describe_equal_judges((Judge("local/b", "test/a"), by_deployment), deployments) == []


def test_two_seats_of_one_file_of_weights_are_one_opinion(tmp_path: Path):
    server = ModelServer("llamacpp", tmp_path / "a.gguf")
    first = Deployment("local/a", "test/a", "", "a", managed=server)
    second = replace(first, name="local/b", managed=replace(server, context=512))
    third = replace(
        first, name="local/c", managed=replace(server, weights=tmp_path / "another.gguf")
    )
    deployments = {each.name: each for each in (first, second, third)}
    judges = [Judge(name, "test/a") for name in deployments]
    (warning,) = describe_equal_judges(judges, deployments)
    assert "the seats test/a (1), test/a (2) always" in warning


def test_a_stored_jury_of_a_removed_deployment_is_compared_by_name():
    judges = (Judge("gone/a", "test/a"), Judge("gone/a", "test/a"), Judge("gone/b", "test/b"))
    (warning,) = describe_equal_judges(judges, {})
    assert "each asks gone/a" in warning
