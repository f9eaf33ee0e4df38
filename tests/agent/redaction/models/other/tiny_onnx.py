"""A token classifier in ONNX format, made on the spot: each token has fixed logits, whatever is around it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

LABELS = ("O", "B-PATIENT", "I-PATIENT", "B-CITY")
WORDS = ("the", "dose", "of", "was", "seen", "in", "and", ".", ",", "na", "##ive")
# Tokens with the probability of being part of an identifier, and its label.
NAMES = {
    "xochitl": (0.98, "B-PATIENT"),
    "##wski": (0.98, "I-PATIENT"),
    "kowal": (0.05, "B-PATIENT"),
    "lodz": (0.60, "B-CITY"),
    "maybe": (0.30, "B-PATIENT"),
}
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *NAMES)
POSITIONS = 66  # as in RoBERTa, two more than the longest window
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_folder(folder: Path, thresholds: Mapping[str, object] | None = None) -> Path:
    """Write all files of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder)
    make_word_tokenizer().save(str(folder / "tokenizer.json"))
    onnx.save(make_model(make_logits(VOCABULARY, NAMES)), folder / "model.onnx")
    if thresholds is not None:
        (folder / "thresholds.json").write_text(json.dumps(thresholds))
    return folder


def write_config(folder: Path, labels: Sequence[str] = LABELS, **more: object) -> None:
    id2label = {str(number): label for number, label in enumerate(labels)}
    config = {"id2label": id2label, "max_position_embeddings": POSITIONS, **more}
    (folder / "config.json").write_text(json.dumps(config))


def make_word_tokenizer() -> Tokenizer:
    """Return a tokenizer like BERT's: lower case without accents, parts of words after ##."""
    vocabulary = {token: number for number, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", VOCABULARY.index("[CLS]")), ("[SEP]", VOCABULARY.index("[SEP]"))],
    )
    return tokenizer


def make_byte_tokenizer() -> Tokenizer:
    """Return a tokenizer like GPT's, without any merges: each byte is a token."""
    vocabulary = {
        token: number for number, token in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))
    }
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def make_logits(
    vocabulary: Sequence[str],
    named: Mapping[str, tuple[float, str]],
    labels: Sequence[str] = LABELS,
) -> np.ndarray:
    """Return the logits of each token of a vocabulary."""
    probabilities = np.full((len(vocabulary), len(labels)), 1e-6)
    probabilities[:, 0] = 1
    for token, (probability, label) in named.items():
        row = vocabulary.index(token)
        probabilities[row, 0] = 1 - probability
        probabilities[row, labels.index(label)] = probability
    return np.log(probabilities).astype(np.float32)


def make_model(
    logits: np.ndarray,
    inputs: Mapping[str, tuple[int, Sequence[int | str]]] | None = None,
    output: tuple[int, Sequence[int | str] | None] | None = None,
) -> onnx.ModelProto:
    """Return a model with these logits by token, and with as many position embeddings as POSITIONS.

    Args:
        inputs: type and shape of each input.
        output: type and shape of the output `logits`.
    """
    labels = logits.shape[1]
    constants = {
        "table": logits,
        "identity": np.eye(labels, dtype=np.float32),
        "positions": np.zeros((POSITIONS - 2, labels), dtype=np.float32),
        "zero": np.array(0, dtype=np.int64),
        "one": np.array(1, dtype=np.int64),
    }
    kind, shape = output or (TensorProto.FLOAT, ("batch", "tokens", labels))
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["of_tokens"]),
        helper.make_node("Shape", ["input_ids"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["length"]),
        helper.make_node("Range", ["zero", "length", "one"], ["places"]),
        helper.make_node("Gather", ["positions", "places"], ["of_places"]),
        helper.make_node("Add", ["of_tokens", "of_places"], ["both"]),
        helper.make_node("MatMul", ["both", "identity"], ["as_float"]),
        helper.make_node("Cast", ["as_float"], ["logits"], to=kind),
    ]
    inputs = inputs or dict.fromkeys(INPUTS, (TensorProto.INT64, ("batch", "tokens")))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, *spec) for name, spec in inputs.items()],
        [helper.make_tensor_value_info("logits", kind, shape)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
