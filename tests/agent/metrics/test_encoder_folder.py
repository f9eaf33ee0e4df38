"""An encoder that is broken or unknown is refused before anything is asked, with what to do."""

import json
import os

import pytest

from agent.errors import BenchmarkError, ConfigError
from agent.metrics import Means, MetricUse, check_available
from agent.metrics.encoder_folder import encoder_folder
from tests.agent.metrics.encoder_files import CONFIG, weights


def test_the_layer_is_the_one_its_authors_chose_unless_another_is_named(folder):
    found = encoder_folder(folder)
    assert (found.family, found.layers, found.layer, found.positions) == ("distilbert", 6, 5, 512)
    assert encoder_folder(folder, 2).layer == 2
    (folder / "config.json").write_text(
        '{"model_type": "roberta", "num_hidden_layers": 24, "max_position_embeddings": 514}'
    )
    found = encoder_folder(folder)
    assert (found.layer, found.positions) == (17, 512)


def test_another_word_in_any_file_is_another_encoder(folder):
    first = encoder_folder(folder).digest
    (folder / "README.md").write_text("not read by anybody")
    assert encoder_folder(folder).digest == first
    digests = {first}
    for name, text in (
        ("tokenizer.json", b"[]"),
        ("model.safetensors", weights(b"\1" * 8)),
        ("vocab.txt", b"a"),
    ):
        path = folder / name
        path.write_bytes(text)
        os.utime(path, ns=(1, len(digests)))  # as a later hour would
        digests.add(encoder_folder(folder).digest)
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", None, "config.json cannot be read"),
        ("config.json", b"{", "config.json is not JSON"),
        ("config.json", b"[" * 100_000, "config.json is not JSON"),
        ("config.json", b"[]", "config.json: expected a map"),
        (
            "config.json",
            b'{"model_type": "llama", "n_layers": 6}',
            "model_type is not one of bert,",
        ),
        ("config.json", b'{"model_type": ["bert"]}', "model_type is not one of bert,"),
        ("config.json", b'{"model_type": "bert"}', "expected the numbers num_hidden_layers"),
        (
            "config.json",
            b'{"model_type": "bert", "n_layers": true, "max_position_embeddings": 512}',
            "expected the numbers",
        ),
        (
            "config.json",
            b'{"model_type": "bert", "n_layers": 7, "max_position_embeddings": 512}',
            "for bert of 7 layers there is no default layer",
        ),
        ("tokenizer.json", None, "no tokenizer"),
        ("model.safetensors", None, "no file of weights, model.safetensors"),
        ("model.safetensors", weights()[:-1], "model.safetensors is truncated"),
        ("model.safetensors", b"", "model.safetensors is truncated"),
        ("model.safetensors", b"\xff" * 40, "model.safetensors is truncated"),
        (
            "model.safetensors",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n",
            "is truncated",
        ),
        ("model.safetensors", weights(end=-1), "is truncated"),
    ],
)
def test_a_folder_that_is_no_encoder_is_refused_by_file(folder, extra, name, content, said):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ConfigError, match=said):
        encoder_folder(folder)
    with pytest.raises(BenchmarkError, match=f"own: bertscore_.*{said}") as refused:
        check_available("own", [MetricUse("BERTScore-F")], Means(folder))
    assert "site.yaml" in refused.value.advice


def test_weights_in_a_pickle_are_not_read(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="a pickle can run code"):
        encoder_folder(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors.index.json", {"weight_map": {"w": "../elsewhere/other.safetensors"}}),
        (
            "model.safetensors.index.json",
            {"weight_map": {"v": "model.safetensors", "w": "/elsewhere/other.safetensors"}},
        ),
        ("model.safetensors.index.json", {"weight_map": {"w": "deeper/model.safetensors"}}),
        ("model.safetensors.index.json", {"weight_map": {"w": "model-00002-of-00002.safetensors"}}),
        ("model.safetensors.index.json", {"weight_map": ["../x"]}),
        ("model.safetensors.index.json", {"weight_map": 1}),
        ("config.json", {**CONFIG, "transformers_weights": "deeper/model.safetensors"}),
        ("tokenizer_config.json", {"tokenizer_file": "/elsewhere/tokenizer.json"}),
        ("tokenizer_config.json", {"fast_tokenizer_files": ["../elsewhere/tokenizer.4.0.0.json"]}),
    ],
)
def test_weights_and_words_from_outside_the_folder_are_refused(folder, name, content):
    """They could be exchanged, and the digest would stay."""
    other = folder / "deeper"
    other.mkdir()
    (other / "model.safetensors").write_bytes(weights())
    (folder / name).write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=f"{name} names a file that is not in the folder"):
        encoder_folder(folder)


def test_an_adapter_to_a_model_elsewhere_is_refused(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    with pytest.raises(ConfigError, match="adapter"):
        encoder_folder(folder)


def test_weights_in_several_files_of_the_folder_are_read(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    index = {"weight_map": {"w": "model-00001-of-00001.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_file": null, "fast_tokenizer_files": ["tokenizer.json"]}'
    )
    assert encoder_folder(folder).layer == 5


@pytest.mark.parametrize("layer", [0, 7])
def test_a_layer_that_is_not_there_is_refused(folder, layer):
    with pytest.raises(ConfigError, match=f"no layer {layer}") as refused:
        encoder_folder(folder, layer)
    assert refused.value.advice == "Set a number from 1 to 6, or remove the setting."
