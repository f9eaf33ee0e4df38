"""A pipe or a device in place of a file: said at once. Opened as a file, a pipe waits for its writer for ever."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark, survey_benchmarks
from agent.catalog.conf_file import read_conf_file
from agent.catalog.deployment_map import read_deployment_map
from agent.datasets.load import locate_dataset
from agent.errors import AgentError
from agent.io.packaged import shipped
from agent.runs.answers_file import AnswersFile
from tests.agent.datasets.own import own

pytestmark = pytest.mark.timeout(20)


def answers(path: Path) -> None:
    with AnswersFile.open(path):
        pass


def data_path(path: Path) -> None:
    locate_dataset(
        load_benchmark(shipped("benchmarks") / "pubmed_qa"), None, {"data_path": str(path)}
    )


READERS: list[Callable[[Path], object]] = [
    answers,
    data_path,
    read_conf_file,
    read_deployment_map,
    load_benchmark,
]


@pytest.mark.parametrize("read", READERS)
def test_a_pipe_or_device_is_no_plain_file(tmp_path, read):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(AgentError, match="not a regular file"):
            read(path)


@pytest.mark.parametrize("name", ["prompt.txt", "data.csv"])
def test_a_pipe_among_a_definitions_files(tmp_path, name):
    own(tmp_path, data_csv="note,correct_answer\nn,a\n")
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(AgentError, match="not a regular file"):
        load_benchmark(tmp_path / "own.yaml")


def test_a_pipe_or_a_pattern_that_would_fill_the_memory_breaks_its_own_definition_only(tmp_path):
    (tmp_path / "piped").mkdir()
    os.mkfifo(tmp_path / "piped/benchmark.yaml")
    for name, pattern in (("good", "x{3}"), ("bomb", "(?:(?:(?:x?){5000}){5000}){5000}y")):
        (tmp_path / name).mkdir()
        own(tmp_path / name, data_csv="note,correct_answer\nn,a\n")
        (tmp_path / name / "own.yaml").rename(tmp_path / name / "benchmark.yaml")
        with (tmp_path / name / "benchmark.yaml").open("a") as file:
            file.write(f"parser: pattern\nanswer_pattern: '{pattern}'\n")
    own_text = (tmp_path / "good/benchmark.yaml").read_text().replace("name: own", "name: good")
    (tmp_path / "good/benchmark.yaml").write_text(own_text)
    found, broken = survey_benchmarks(tmp_path)
    assert "good" in found
    said = [str(one.error) for one in broken]
    assert len(said) == 2
    assert "answer_pattern: repeats repeated groups too often" in said[0]
    assert "not a regular file" in said[1]
