"""A recogniser for token classifiers in ONNX format, which onnxruntime runs on one thread of the CPU.

A model in ONNX format, which may be quantised to int8, is data: it cannot run code. See `onnx_folder` for the other
files of its folder.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from presidio_analyzer import RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts
from tokenizers import Encoding, Tokenizer

from agent.io.model_folder import ModelFolderError
from agent.redaction.deadline import Deadline
from agent.redaction.models.model import scale_bound
from agent.redaction.models.other.labels import map_labels, strip_prefix
from agent.redaction.models.other.onnx_folder import (
    CONFIG,
    MODEL,
    TOKENIZER,
    choose_window,
    list_labels,
    read_config,
    read_thresholds,
    refuse_pickles,
)
from agent.redaction.models.other.recognizer import ModelOfOthers, widen_to_word
from agent.redaction.rules.rulebook import SURE

_SHARED = 64  # tokens shared by consecutive windows
_TRIAL = "Anna Kowalski, seen on 03/14/2022"

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS = ("tensor(float)", "tensor(float16)", "tensor(double)")

_Array = Any  # of NumPy


class OnnxClassifier(ModelOfOthers):
    """Detects identifiers with an ONNX model that labels tokens.

    Args:
        odds: factor for the odds of the thresholds (see `RedactionPolicy.model_odds`).

    Raises:
        ModelFolderError: a file is missing or malformed, the files do not belong together, or a label is not mapped.
            The message names the file and what was expected.
    """

    def __init__(
        self,
        folder: Path,
        labels: Mapping[str, str | None],
        language: str,
        deadline: Deadline,
        odds: float = 1.0,
    ) -> None:
        refuse_pickles(folder)
        config = read_config(folder)
        own_labels = list_labels(config)
        entities = map_labels(own_labels, labels)
        self._harmless = [
            number for number, label in enumerate(own_labels) if label not in entities
        ]
        if not self._harmless:
            raise ModelFolderError(
                f"{CONFIG}: id2label: expected a label for words that identify no person, such as O"
            )
        self._groups = _group_labels(
            own_labels, entities, read_thresholds(folder, own_labels), odds
        )
        self._network = _Network(folder / MODEL, len(own_labels))
        self._tokenizer = _open_tokenizer(folder / TOKENIZER)
        longest = self._tokenizer.truncation
        window = choose_window(config, longest["max_length"] if longest else None)
        self._tokenizer.enable_truncation(window, stride=min(_SHARED, window // 4))
        self._try(window)
        super().__init__("ONNX", folder, entities, language, deadline)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the words in `text` with at least one token that is probably part of an identifier.

        Raises:
            TimeoutError: the deadline passed.
            WrongOutputError: the model's output is unusable.
        """
        del entities, nlp_artifacts
        detected: dict[tuple[str, int, int], None] = {}  # an ordered set: windows overlap
        for window in self._split_windows(text):
            self._deadline.left()
            for token, entity in self._label_tokens(window):
                start, end = _strip_space(text, *window.offsets[token])
                if start < end:
                    detected[entity, *widen_to_word(text, start, end)] = None
        return [RecognizerResult(entity, start, end, SURE) for entity, start, end in detected]

    def _split_windows(self, text: str) -> list[Encoding]:
        """Return the tokens of a text in overlapping windows; the tokenizer calls all but the first overflowing."""
        if not text.strip():
            return []
        encoding = self._tokenizer.encode(text)
        return [encoding, *encoding.overflowing]

    def _label_tokens(self, window: Encoding) -> Iterator[tuple[int, str]]:
        """Yield the number and entity of each token in a window that is probably part of an identifier."""
        probabilities = self._network.predict(window.ids)
        sensitive = 1 - probabilities[:, self._harmless].sum(axis=1)
        by_group = np.stack(
            [probabilities[:, group.labels].sum(axis=1) for group in self._groups], axis=1
        )
        most_probable = by_group.argmax(axis=1)
        for token, is_added in enumerate(window.special_tokens_mask):
            group = self._groups[most_probable[token]]
            if not is_added and sensitive[token] >= group.bound:
                yield token, group.entity

    def _try(self, window: int) -> None:
        """Analyse a known text, the last token of the vocabulary, and as many tokens as a window can hold.

        Raises:
            ModelFolderError: the model fails, or its output does not fit its labels.
        """
        ids = self._split_windows(_TRIAL)[0].ids
        try:
            self._network.predict(ids)
        except Exception as error:  # noqa: BLE001 - the library may raise any error
            reason = str(error) if isinstance(error, WrongOutputError) else type(error).__name__
            raise ModelFolderError(f"{MODEL}: it fails on a text of one line: {reason}") from None
        last = self._tokenizer.get_vocab_size() - 1
        if not self._is_read([last]):
            raise ModelFolderError(
                f"{TOKENIZER}: expected the tokenizer of {MODEL}, which does not know token {last}"
            )
        if not self._is_read([ids[0]] * window):
            raise ModelFolderError(
                f"{CONFIG}: expected the max_position_embeddings of {MODEL}, which fails on {window} tokens"
            )

    def _is_read(self, ids: Sequence[int]) -> bool:
        try:
            self._network.predict(ids)
        except Exception:  # noqa: BLE001 - as above
            return False
        return True


@dataclass(frozen=True, slots=True)
class _LabelGroup:
    """The labels that differ only in their prefix, such as B-NAME and I-NAME.

    Attributes:
        labels: their numbers.
        bound: the probability of being part of any identifier from which a token of this group is taken.
    """

    entity: str
    labels: list[int]
    bound: float


class WrongOutputError(ValueError):
    """The output of a model has the wrong shape, or contains something that is not a number."""


class _Network:
    """A model in ONNX format.

    Args:
        path: the file.
        labels: number of labels in config.json.

    Raises:
        ModelFolderError: the file is missing or no model, or its inputs or outputs are not those of a token classifier.
    """

    def __init__(self, path: Path, labels: int) -> None:
        self._labels = labels
        self._session = _open_session(path)
        self._types: dict[str, Any] = {}
        for node in self._session.get_inputs():
            self._types[node.name] = _check_input(node)
        if "input_ids" not in self._types:
            raise ModelFolderError(f"{MODEL}: expected an input input_ids")
        self._output = _choose_output(self._session.get_outputs(), labels)

    def predict(self, ids: Sequence[int]) -> _Array:
        """Return the probability of each label (columns) for each token (rows), given the tokens' numbers.

        Raises:
            WrongOutputError: the output has the wrong shape, or contains something that is not a number.
        """
        values = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": [0] * len(ids),
        }
        inputs = {name: np.array([values[name]], dtype) for name, dtype in self._types.items()}
        logits = np.asarray(self._session.run([self._output], inputs)[0], dtype=np.float64)
        expected = (1, len(ids), self._labels)
        if logits.shape != expected:
            raise WrongOutputError(
                f"its output has the shape {list(logits.shape)}; expected {list(expected)} for {len(ids)} tokens and "
                f"the {self._labels} labels of {CONFIG}"
            )
        if not np.isfinite(logits).all():
            raise WrongOutputError("its output contains something that is not a number")
        exponentials = np.exp(logits[0] - logits[0].max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)


def _group_labels(
    labels: Sequence[str], entities: Mapping[str, str], thresholds: Mapping[str, float], odds: float
) -> list[_LabelGroup]:
    groups: dict[str, _LabelGroup] = {}
    for number, label in enumerate(labels):
        if label not in entities:
            continue
        name = strip_prefix(label)
        if name not in groups:
            groups[name] = _LabelGroup(entities[label], [], scale_bound(thresholds[name], odds))
        groups[name].labels.append(number)
    return list(groups.values())


def _open_session(path: Path) -> onnxruntime.InferenceSession:
    if not path.is_file():
        raise ModelFolderError(f"{MODEL} is missing; expected a model in ONNX format")
    options = onnxruntime.SessionOptions()
    # One thread per process, as for every engine: several processes redact at once.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # fatal errors only; other errors are raised
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - a damaged file may raise any error in the library
        raise ModelFolderError(
            f"{MODEL}: expected a model in ONNX format that onnxruntime {onnxruntime.__version__} can load "
            f"({type(error).__name__})"
        ) from None


def _check_input(node: Any) -> Any:
    """Return the type of the numbers of one input."""
    if node.name not in _INPUTS:
        raise ModelFolderError(
            f"{MODEL}: unknown input {node.name}; expected {', '.join(_INPUTS)}, or some of these"
        )
    if node.type not in _INTEGERS:
        raise ModelFolderError(
            f"{MODEL}: input {node.name} is a {node.type}; expected {' or '.join(_INTEGERS)}"
        )
    if not _is_shaped(node.shape, None):
        raise ModelFolderError(
            f"{MODEL}: input {node.name} has the shape {node.shape}; expected [batch, tokens] for any number of tokens"
        )
    return _INTEGERS[node.type]


def _choose_output(nodes: Sequence[Any], labels: int) -> str:
    """Return the name of the output with the logits."""
    chosen = [node for node in nodes if node.name == "logits"] or list(nodes)
    if len(chosen) > 1:
        raise ModelFolderError(f"{MODEL}: none of its {len(chosen)} outputs is named logits")
    (node,) = chosen
    if node.type not in _FLOATS:
        raise ModelFolderError(
            f"{MODEL}: output {node.name} is a {node.type}; expected {' or '.join(_FLOATS)}"
        )
    if not _is_shaped(node.shape, labels):
        raise ModelFolderError(
            f"{MODEL}: output {node.name} has the shape {node.shape}; expected [batch, tokens, {labels}] for the "
            f"{labels} labels of {CONFIG}"
        )
    return str(node.name)


def _is_shaped(shape: Sequence[object], labels: int | None) -> bool:
    """Return whether a tensor is for one text of any number of tokens, each with a value for each label if given.

    A dimension of variable size is a name or None.
    """
    if len(shape) != (2 if labels is None else 3):
        return False
    batch, tokens, *values = shape
    if isinstance(batch, int) and batch != 1:
        return False
    return not isinstance(tokens, int) and all(
        value == labels or not isinstance(value, int) for value in values
    )


def _open_tokenizer(path: Path) -> Tokenizer:
    if not path.is_file():
        raise ModelFolderError(
            f"{TOKENIZER} is missing; expected a tokenizer of the library tokenizers"
        )
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception:  # noqa: BLE001 - the library raises Exception itself
        raise ModelFolderError(
            f"{TOKENIZER}: expected a tokenizer as the library tokenizers writes it"
        ) from None
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
    return tokenizer


def _strip_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Exclude white space at the ends: some tokens include the space before their word."""
    token = text[start:end]
    start += len(token) - len(token.lstrip())
    return start, start + len(token.strip())
