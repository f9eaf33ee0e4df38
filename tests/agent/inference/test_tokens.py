"""A tokenizer file counts where the server does not."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.inference.probe import probe
from agent.vocabulary import Response
from tests.agent.fault_server import FaultServer
from tests.agent.inference.asking import PATIENT, ask_one, deployment, probe_server
from tests.agent.inference.counting_server import TEMPLATE_WORDS, CountingServer
from tests.agent.inference.long_prompts import note, over_long, sent_note


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that makes a token of every word, and says that texts are to be truncated to 16."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(16)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_a_tokenizer_file_counts_where_the_server_does_not(tokenizer_file):
    with CountingServer(window=1000, kind="neither") as server:
        where = replace(
            deployment(server.url), tokenizer_file=tokenizer_file, max_sequence_length=1000
        )
        found = asyncio.run(probe(where, PATIENT))
        assert (found.counting, found.template_tokens) == ("tokenizer_file", TEMPLATE_WORDS)
        result = ask_one(where, over_long(note(5000)), capabilities=found)
        assert sent_note(server)
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert 965 <= result.prompt_tokens <= 980
    assert result.shortened > 4000


def test_a_tokenizer_of_another_model_is_refused_before_anything_of_a_dataset_is_asked(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    letters.save(str(tmp_path / "tokenizer.json"))
    with (
        CountingServer(window=1000, kind="neither") as server,
        pytest.raises(ConfigError, match="does not belong to the"),
    ):
        probe_server(server, tokenizer_file=tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    "content", [None, b"", b"{}", b"\xff\xfe", b'{"model": {"type": "Nothing"}}']
)
def test_a_tokenizer_file_that_is_none_is_said_before_the_run(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_bytes(content)
    with FaultServer() as server:
        with pytest.raises(ConfigError, match="deployment local/test: tokenizer_file"):
            probe_server(server, tokenizer_file=path)
        assert server.asked == []


def test_a_missing_package_is_named_before_the_run(tokenizer_file):
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from pathlib import Path\nfrom agent.catalog.deployments import Deployment\n"
        "from agent.inference.tokens import open_tokenizer\nfrom agent.errors import ConfigError\n"
        "try:\n"
        "    open_tokenizer(Deployment('d', 'm', '', 's', tokenizer_file=Path(sys.argv[1])))\n"
        "except ConfigError as error:\n    print(error, error.advice)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tokenizer_file)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not installed" in done.stdout
    assert "pip install '.[tokenizer]'" in done.stdout
