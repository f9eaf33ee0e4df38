"""Load an encoder offline, and compare texts by the vectors of their tokens."""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent.errors import ConfigError
from agent.metrics.encoder_folder import MIN_POSITIONS, SET, EncoderFolder

_BATCH_TOKENS = 8_192  # padded tokens per batch
_ROOM = 2 * 2**30  # bytes that must be free on a graphics card, which a model server may be using
_SHARE_READ = 0.5  # minimum share of a reference's tokens that the encoder must know

Figures = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `start` to `end` of a text, encoded together. Tokens `first` to `last` use the resulting vectors."""

    start: int
    end: int
    first: int
    last: int


def plan_windows(tokens: int, width: int) -> list[Window]:
    """Return windows of at most `width` tokens that cover a text. Neighbouring windows overlap by half or more.

    Each token takes its vector from the window in which it is farther from an edge. All ends are exclusive.
    """
    if tokens <= width:
        return [Window(0, tokens, 0, tokens)]
    starts = [*range(0, tokens - width, max(1, width // 2)), tokens - width]
    # The boundary between two windows is the middle of their overlap.
    borders = [0]
    for start, next_start in pairwise(starts):
        borders.append((next_start + start + width) // 2)
    borders.append(tokens)
    windows: list[Window] = []
    for start, (first, last) in zip(starts, pairwise(borders), strict=True):
        windows.append(Window(start, start + width, first, last))
    return windows


@dataclass(frozen=True, slots=True)
class TextComparison:
    """An answer and its references. `is_cut`: a long text is cut off instead of being read in windows."""

    answer: str
    references: Sequence[str]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class _EncodedText:
    """The cache key of a text's vectors: the text, and whether it is cut off."""

    text: str
    is_cut: bool


class Encoder:
    """An encoder up to the layer used for comparison, on a graphics card with enough free memory or on the processor.

    Raises:
        ConfigError: the files in the folder are not a complete model.
    """

    def __init__(self, folder: EncoderFolder, threads: int) -> None:
        # Set before the packages are imported, because they read it only then. Otherwise they would search a hub for a
        # newer model.
        os.environ.update(
            HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1"
        )
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        import torch
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        torch.set_num_threads(max(1, threads))
        self._torch = torch
        closed = {
            "local_files_only": True,
            "trust_remote_code": False,
        }  # neither access a hub nor run code from the folder
        try:
            with torch.random.fork_rng(devices=[]):  # loading may use random numbers
                model, loading = transformers.AutoModel.from_pretrained(
                    folder.folder, use_safetensors=True, output_loading_info=True, **closed
                )
            options = {"add_prefix_space": True} if folder.family == "roberta" else {}
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                folder.folder, **closed, **options
            )
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError) as error:
            raise ConfigError(
                f"bertscore_model: the folder cannot be loaded ({type(error).__name__})", SET
            ) from None
        # transformers fills missing weights with random numbers. The pooler's output is never used.
        lacking = sorted(name for name in loading["missing_keys"] if not name.startswith("pooler."))
        if lacking:
            raise ConfigError(
                f"bertscore_model: the weights lack {len(lacking)} tensors of the model that config.json names, "
                f"such as {lacking[0]}",
                SET,
            )
        stack = model.transformer if folder.family == "distilbert" else model.encoder
        stack.layer = stack.layer[: folder.layer]  # the layers above are never used
        self._device = "cpu"
        if torch.cuda.is_available() and torch.cuda.mem_get_info()[0] > _ROOM:
            self._device = "cuda"
        self._model = model.float().eval().to(self._device)
        longest = self._tokenizer.model_max_length
        self._around = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        if (
            not isinstance(longest, int | float)
            or not longest >= MIN_POSITIONS
            or None in self._around
        ):
            raise ConfigError(
                "bertscore_model: the tokenizer has no start and end tokens, or accepts fewer than "
                f"{MIN_POSITIONS} tokens (model_max_length of tokenizer_config.json)",
                SET,
            )
        self._width = int(min(folder.positions, longest)) - 2  # not counting the special tokens

    def compare(self, comparisons: Sequence[TextComparison]) -> list[list[Figures | None] | None]:
        """Compare each answer with its references.

        Returns a triple of scores for every reference, in the same order, or None for a reference that the encoder
        cannot read. An answer without any tokens gives None instead of a list.

        Raises:
            ConfigError: the encoder computes values that are not numbers.
        """
        tokens = self._tokenize(comparisons)
        encoded_texts: dict[_EncodedText, list[int]] = {}
        for comparison in comparisons:
            for text in (comparison.answer, *comparison.references):
                key = self._build_key(text, tokens[text], is_cut=comparison.is_cut)
                encoded_texts[key] = tokens[text][: self._width] if key.is_cut else tokens[text]
        vectors = self._build_vectors(encoded_texts)

        results: list[list[Figures | None] | None] = []
        for comparison in comparisons:
            if not tokens[comparison.answer]:
                results.append(None)
                continue
            answer_key = self._build_key(
                comparison.answer, tokens[comparison.answer], is_cut=comparison.is_cut
            )
            figures: list[Figures | None] = []
            for reference in comparison.references:
                if not self._is_readable(tokens[reference], by_us=not comparison.is_cut):
                    figures.append(None)
                    continue
                reference_key = self._build_key(
                    reference, tokens[reference], is_cut=comparison.is_cut
                )
                figures.append(self._compute_figures(vectors[answer_key], vectors[reference_key]))
            results.append(figures)
        return results

    def _tokenize(self, comparisons: Sequence[TextComparison]) -> dict[str, list[int]]:
        tokens: dict[str, list[int]] = {}
        for comparison in comparisons:
            for text in (comparison.answer, *comparison.references):
                if text not in tokens:
                    encoding = self._tokenizer(
                        text.strip(), add_special_tokens=False, verbose=False
                    )
                    tokens[text] = encoding["input_ids"]
        return tokens

    def _build_key(self, text: str, tokens: Sequence[int], *, is_cut: bool) -> _EncodedText:
        # Both sets of rules treat a text that fits the encoder in the same way, so it is encoded once.
        return _EncodedText(text, is_cut and len(tokens) > self._width)

    def _is_readable(self, tokens: Sequence[int], *, by_us: bool) -> bool:
        """Return whether a reference can be compared. Unknown tokens are identical, so they would match each other."""
        if not by_us:
            return bool(tokens)
        known: int = sum(token != self._tokenizer.unk_token_id for token in tokens)
        return known > 0 and known >= _SHARE_READ * len(tokens)

    def _build_vectors(self, texts: dict[_EncodedText, list[int]]) -> dict[_EncodedText, Any]:
        """Return each text's vectors, scaled to length 1, including those of the special tokens at both ends."""
        keys: list[_EncodedText] = []
        windows: list[Window] = []
        rows: list[list[int]] = []
        first_token, last_token = self._around
        for key, tokens in texts.items():
            for window in plan_windows(len(tokens), self._width):
                keys.append(key)
                windows.append(window)
                rows.append([first_token, *tokens[window.start : window.end], last_token])

        pieces: dict[_EncodedText, list[Any]] = {}
        for key, window, vectors in zip(keys, windows, self._encode_rows(rows), strict=True):
            # Vectors are shifted by one position against tokens, because of the first special token.
            start = 1 + window.first - window.start
            end = 1 + window.last - window.start
            if window.first == 0:
                start = 0
            if window.last == len(texts[key]):
                end = len(vectors)
            pieces.setdefault(key, []).append(vectors[start:end])
        return {key: self._join_pieces(pieces_of_text) for key, pieces_of_text in pieces.items()}

    def _encode_rows(self, rows: Sequence[Sequence[int]]) -> list[Any]:
        """Return the unit vectors of every row, encoded in batches of similar length."""
        encoded: list[Any] = [None] * len(rows)
        for batch in _plan_batches([len(row) for row in rows]):
            vectors_of_batch = self._encode([rows[index] for index in batch])
            for index, vectors in zip(batch, vectors_of_batch, strict=True):
                encoded[index] = vectors
        return encoded

    def _join_pieces(self, pieces: Sequence[Any]) -> Any:
        # Pieces are on different devices if the graphics card ran out of memory between two batches.
        return self._torch.cat([piece.to(self._device) for piece in pieces])

    def _encode(self, batch: Sequence[Sequence[int]]) -> list[Any]:
        """Return the unit vectors of every row of tokens."""
        torch = self._torch
        longest = max(map(len, batch))
        padding_token = self._tokenizer.pad_token_id or 0
        padded_rows: list[list[int]] = []
        mask_rows: list[list[int]] = []
        for row in batch:
            padding = longest - len(row)
            padded_rows.append([*row] + [padding_token] * padding)
            mask_rows.append([1] * len(row) + [0] * padding)
        ids, mask = torch.tensor(padded_rows), torch.tensor(mask_rows)
        with torch.inference_mode():
            try:
                output = self._model(
                    input_ids=ids.to(self._device), attention_mask=mask.to(self._device)
                )
            except torch.OutOfMemoryError:
                if self._device == "cpu":
                    raise
                # A model server took the memory. The processor is slower, but computes the same values.
                self._device = "cpu"
                self._model = self._model.to("cpu")
                output = self._model(input_ids=ids, attention_mask=mask)
            unit = torch.nn.functional.normalize(output.last_hidden_state, dim=-1)
        return [
            row[: len(tokens)].to(self._device) for row, tokens in zip(unit, batch, strict=True)
        ]

    def _compute_figures(self, answer: Any, reference: Any) -> Figures:
        """Return precision, recall and F1. Special tokens can be matched, but are not counted themselves."""
        with self._torch.inference_mode():
            cosines = answer.to(self._device) @ reference.to(self._device).T
            precision = float(cosines.max(dim=1).values[1:-1].mean())
            recall = float(cosines.max(dim=0).values[1:-1].mean())
        total = precision + recall
        if not math.isfinite(total):
            raise ConfigError(
                "bertscore_model: the encoder's vectors are not numbers; its weights are damaged",
                SET,
            )
        f1 = 2 * precision * recall / total if total > 0 else 0.0
        return precision, recall, f1


def _plan_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield indexes in batches of similar length, to keep padding small."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
