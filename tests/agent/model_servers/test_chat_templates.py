"""Chat templates: weights without one are reported, and a template that cannot be read is refused by name."""

from pathlib import Path

import pytest

from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError
from agent.model_servers.chat_templates import describe_missing_template, read_chat_template
from agent.model_servers.weights import check_weights
from tests.agent.model_servers.gguf_files import write_gguf


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    """A file without a chat template."""
    return write_gguf(tmp_path / "m.gguf")


def test_a_gguf_file_without_a_chat_template_is_reported(gguf: Path):
    assert "m.gguf has no chat template" in describe_missing_template(ModelServer("llamacpp", gguf))
    write_gguf(gguf, template="{{ messages }}")
    assert describe_missing_template(ModelServer("llamacpp", gguf)) == ""


def test_a_template_of_the_deployment_is_enough(gguf: Path, tmp_path: Path):
    server = ModelServer("llamacpp", gguf, chat_template=tmp_path / "own.jinja")
    assert describe_missing_template(server) == ""


@pytest.mark.parametrize(
    ("name", "content", "has_template"),
    [
        ("tokenizer_config.json", '{"bos_token": "<s>"}', False),
        ("tokenizer_config.json", '{"chat_template": "{{ messages }}"}', True),
        ("chat_template.jinja", "{{ messages }}", True),
    ],
)
def test_a_models_folder_without_a_chat_template_is_reported(
    tmp_path: Path, name: str, content: str, has_template: bool
):
    (tmp_path / name).write_text(content, "utf-8")
    problem = describe_missing_template(ModelServer("vllm", tmp_path))
    assert ("vLLM will refuse every question" in problem) is not has_template


def test_files_that_are_missing_or_empty_are_left_to_the_check_of_the_weights(tmp_path: Path):
    empty = tmp_path / "empty.gguf"
    empty.write_bytes(b"")
    for path in (empty, tmp_path / "gone.gguf"):
        assert describe_missing_template(ModelServer("llamacpp", path)) == ""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "own.jinja cannot be read"),
        (b"", "own.jinja is empty"),
        (b"\xff\xfe", "own.jinja is not a text in UTF-8"),
        (b"x" * 1_000_001, "own.jinja is longer than 1,000,000 bytes"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_before_the_start(
    gguf: Path, tmp_path: Path, content: bytes | None, problem: str
):
    path = tmp_path / "own.jinja"
    if content is not None:
        path.write_bytes(content)
    server = ModelServer("llamacpp", gguf, chat_template=path)
    with pytest.raises(ConfigError, match=problem):
        check_weights(server, "local/m")


def test_no_template_is_read_where_the_deployment_names_none(gguf: Path):
    assert read_chat_template(ModelServer("llamacpp", gguf)) is None
