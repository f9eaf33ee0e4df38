"""An encoder that is missing, broken or unknown is refused before anything is asked, with what to do."""

import json
import os
from pathlib import Path

import pytest

from agent.errors import BenchmarkError, ConfigError
from agent.metrics import METRICS, Means, MetricUse, bert_score, check_available
from agent.metrics.bert_score import BertScoreComparison, build_comparison
from agent.metrics.encoder import TextComparison
from agent.metrics.encoder_folder import EncoderFolder, encoder_folder
from agent.vocabulary import Instance, Message, Reference

CONFIG = {"model_type": "distilbert", "n_layers": 6, "max_position_embeddings": 512}


def weights(data: bytes = b"\0" * 8, end: int | None = None) -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, end or len(data)]}}).encode()
    return len(header).to_bytes(8, "little") + header + data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(weights())
    return tmp_path


@pytest.fixture
def extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert_score, "missing_packages", lambda: ())


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
    for name, text in (("tokenizer.json", b"[]"), ("model.safetensors", weights(b"\1" * 8)), ("vocab.txt", b"a")):
        path = folder / name
        path.write_bytes(text)
        os.utime(path, ns=(1, len(digests)))  # as a later hour would
        digests.add(encoder_folder(folder).digest)
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", None, "config.json cannot be read"),
        ("config.json", b"{", "config.json is no JSON"),
        ("config.json", b"[" * 100_000, "config.json is no JSON"),
        ("config.json", b"[]", "config.json: expected a map"),
        ("config.json", b'{"model_type": "llama", "n_layers": 6}', "model_type is none of bert,"),
        ("config.json", b'{"model_type": ["bert"]}', "model_type is none of bert,"),
        ("config.json", b'{"model_type": "bert"}', "expected the numbers num_hidden_layers"),
        (
            "config.json",
            b'{"model_type": "bert", "n_layers": true, "max_position_embeddings": 512}',
            "expected the numbers",
        ),
        (
            "config.json",
            b'{"model_type": "bert", "n_layers": 7, "max_position_embeddings": 512}',
            "for bert of 7 layers no layer was ever chosen",
        ),
        ("tokenizer.json", None, "no tokenizer"),
        ("model.safetensors", None, "no weights, model.safetensors"),
        ("model.safetensors", weights()[:-1], "model.safetensors is cut off"),
        ("model.safetensors", b"", "model.safetensors is cut off"),
        ("model.safetensors", b"\xff" * 40, "model.safetensors is cut off"),
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "is cut off"),
        ("model.safetensors", weights(end=-1), "is cut off"),
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
    assert refused.value.advice == "Give a number from 1 to 6, or leave it out."


def test_a_benchmark_with_bertscore_is_refused_until_extra_and_encoder_are_there(folder, monkeypatch):
    uses = [MetricUse("exact_match"), MetricUse("BERTScore-R")]
    monkeypatch.setattr(bert_score, "missing_packages", lambda: ("torch", "transformers"))
    with pytest.raises(BenchmarkError, match="own: BERTScore needs torch and transformers") as refused:
        check_available("own", uses, Means(folder))
    assert "pip install" in refused.value.advice
    monkeypatch.setattr(bert_score, "missing_packages", lambda: ())
    with pytest.raises(BenchmarkError, match="own: BERTScore needs an encoder, and none is set") as refused:
        check_available("own", uses)
    assert "bertscore_model" in refused.value.advice
    check_available("own", uses, Means(folder))
    check_available("own", uses[:1])


def test_the_encoder_is_part_of_the_metric(folder, extra):
    use = bert_score.with_encoder(MetricUse("BERTScore-F"), Means(folder))
    assert use.options == {"encoder": f"sha256:{encoder_folder(folder).digest}", "layer": "5"}


def test_what_is_compared_by_either_rules():
    references = (Reference("{right}", True), Reference("wrong", False), Reference(" ", True))
    instance = Instance("1", "1", (Message("user", "?"),), references)
    assert build_comparison("{an answer} ", instance, "intramural") == BertScoreComparison(
        "{an answer} ", ("{right}",), "intramural"
    )
    # HELM takes every reference, and an outer brace from each text.
    assert build_comparison("{an answer} ", instance, "helm") == BertScoreComparison(
        "an answer", ("right", "wrong", " "), "helm"
    )


def test_an_encoders_figures_are_the_best_of_each_and_within_their_range(monkeypatch, folder, extra):
    class Encoder:
        def compare(self, comparisons):
            assert comparisons == [TextComparison("a", ("b", "c"), is_cut=False)]
            return [[(0.2, 0.9, -0.1), (1.0000001, 0.3, 0.4)]]

    monkeypatch.setattr(bert_score, "_load_encoder", lambda encoder, threads: Encoder())
    assert isinstance(bert_score.check("own", Means(folder)), EncoderFolder)
    assert bert_score.triples([BertScoreComparison("a", ("b", "c"), "intramural")], Means(folder)) == [(1.0, 0.9, 0.4)]


def test_bertscore_is_measured_later():
    assert all(METRICS[name].later for name in bert_score.NAMES)
