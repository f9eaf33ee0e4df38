"""Models that find identifiers, as their own libraries load them: a transformers token classifier and GLiNER."""

import os
import random
from pathlib import Path

import pytest

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.models.other import open_model
from tests.extras.encoders import WORDS

NAMES = ["kowalska", "holloway", "wrzesniewski"]
VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *WORDS,
    "kowal",
    "##ska",
    "hollo",
    "##way",
    "wrzesniewski",
    ".",
]


def deadline() -> Deadline:
    made = Deadline()
    made.start(60)
    return made


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A token classifier that has learned three names, and labels the first token of each."""
    import torch
    import transformers

    torch.manual_seed(3)
    chance = random.Random(3)
    folder = tmp_path_factory.mktemp("models") / "classifier"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(VOCABULARY)), "utf-8")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,
        id2label={0: "O", 1: "B-PER"},
        label2id={"O": 0, "B-PER": 1},
    )
    model = transformers.BertForTokenClassification(config)
    named = [tokenizer.convert_tokens_to_ids(token) for token in ("kowal", "hollo", "wrzesniewski")]
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(60):
        texts = [" ".join(chance.choice(WORDS + NAMES * 4) for _ in range(20)) for _ in range(8)]
        batch = tokenizer(texts, return_tensors="pt", padding=True, truncation=True)
        gold = torch.isin(batch["input_ids"], torch.tensor(named)).long()
        loss = model(**batch, labels=gold).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_token_classifier_finds_whole_words_wherever_they_stand_in_a_long_text(classifier):
    model = open_model("transformers", classifier, {}, ["en"], deadline())
    words = [*WORDS * 20]
    for place, name in zip((3, 211, 400), NAMES, strict=True):
        words[place] = name
    text = " ".join(words)
    found = {text[r.start : r.end] for r in model.analyze(text, [])}
    assert found == set(NAMES)
    assert {r.entity_type for r in model.analyze(text, [])} == {"NAME"}
    assert model.analyze("  \n", []) == []


@pytest.fixture(scope="module")
def exported(classifier: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same token classifier in ONNX format, quantised to int8."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import torch
    import transformers
    from onnxruntime.quantization import QuantType, quantize_dynamic

    folder = tmp_path_factory.mktemp("models") / "exported"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_bytes((classifier / name).read_bytes())
    model = transformers.AutoModelForTokenClassification.from_pretrained(
        classifier, attn_implementation="eager"
    ).eval()
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    axes = {name: {0: "batch", 1: "tokens"} for name in (*inputs, "logits")}
    example = torch.ones((1, 12), dtype=torch.int64)
    torch.onnx.export(
        model,
        (example, example, torch.zeros_like(example)),
        str(folder / "float.onnx"),
        input_names=list(inputs),
        output_names=["logits"],
        dynamic_axes=axes,
        dynamo=False,
    )
    quantize_dynamic(folder / "float.onnx", folder / "model.onnx", weight_type=QuantType.QInt8)
    (folder / "float.onnx").unlink()
    return folder


def test_a_classifier_in_onnx_finds_what_the_same_one_of_transformers_finds(classifier, exported):
    own = open_model("transformers", classifier, {}, ["en"], deadline())
    quantised = open_model("onnx", exported, {}, ["en"], deadline())
    chance = random.Random(5)
    for _ in range(20):
        text = " ".join(chance.choice(WORDS + NAMES) for _ in range(300))
        expected = {(r.entity_type, r.start, r.end) for r in own.analyze(text, [])}
        assert expected
        assert {(r.entity_type, r.start, r.end) for r in quantised.analyze(text, [])} == expected


def test_weights_in_a_pickle_are_not_read(classifier, tmp_path):
    for path in classifier.iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(RedactionError, match="a pickle can run code"):
        open_model("transformers", tmp_path, {}, ["en"], deadline())


def test_an_encoder_that_classifies_nothing_is_refused(classifier, tmp_path):
    for path in classifier.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = (tmp_path / "config.json").read_text("utf-8")
    (tmp_path / "config.json").write_text(
        config.replace("BertForTokenClassification", "BertModel"), "utf-8"
    )
    with pytest.raises(RedactionError, match="names no token classifier"):
        open_model("transformers", tmp_path, {}, ["en"], deadline())


@pytest.fixture(scope="module")
def gliner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GLiNER model with random weights: it finds nonsense, where its library would find it."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    import torch
    import transformers
    from gliner import GLiNER, GLiNERConfig

    torch.manual_seed(3)
    encoder = tmp_path_factory.mktemp("models") / "encoder"
    encoder.mkdir()
    (encoder / "vocab.txt").write_text("\n".join(dict.fromkeys(VOCABULARY)), "utf-8")
    transformers.BertTokenizerFast(
        str(encoder / "vocab.txt"), model_max_length=128
    ).save_pretrained(encoder)
    config = transformers.BertConfig(
        vocab_size=200,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
    )
    transformers.BertModel(config).save_pretrained(encoder)
    made = GLiNER.from_config(
        GLiNERConfig(
            model_name=str(encoder),
            encoder_config=config.to_dict(),
            hidden_size=32,
            max_len=30,
            max_width=4,
            span_mode="markerV0",
            name="tiny",
        )
    )
    folder = encoder.parent / "gliner"
    made.save_pretrained(str(folder), safe_serialization=True)
    return folder


def test_gliner_reads_every_window_of_a_long_text(gliner):
    model = open_model("gliner", gliner, {}, ["en"], deadline())
    text = " ".join(WORDS * 5)
    found = model.analyze(text, [])
    assert {"NAME", "MRN"} <= set(model.supported_entities)
    assert any(r.start > len(text) * 0.9 for r in found)
    assert all(0 <= r.start < r.end <= len(text) for r in found)


def test_gliner_is_asked_for_what_the_policy_names(gliner):
    model = open_model("gliner", gliner, {"nurse": "NAME", "drug": None}, ["en"], deadline())
    assert model.supported_entities == ["NAME"]
    assert {r.entity_type for r in model.analyze(" ".join(WORDS), [])} <= {"NAME"}
