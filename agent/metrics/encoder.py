"""An encoder in memory: vectors of texts, and how alike two texts are by them. Loaded once, and offline."""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent.errors import ConfigError
from agent.metrics.encoder_folder import LEAST_POSITIONS, SET, EncoderFolder

_BATCH_TOKENS = 8_192  # padded tokens that pass through the encoder at once
_ROOM = 2 * 2**30  # bytes that must be free on a graphics card; a model server may have taken the rest
_SHARE_READ = 0.5  # of a reference's tokens that the encoder must know

Figures = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `start` to `end` of a text, seen together; those from `first` to `last` take their vectors from here."""

    start: int
    end: int
    first: int
    last: int


def windows(tokens: int, width: int) -> list[Window]:
    """Cover a text by windows of at most `width` tokens, neighbours overlapping by half or more.

    Each token takes its vector from the window in which it stands further from an edge. All ends are exclusive.
    """
    if tokens <= width:
        return [Window(0, tokens, 0, tokens)]
    starts = [*range(0, tokens - width, max(1, width // 2)), tokens - width]
    borders = [0, *((after + start + width) // 2 for start, after in pairwise(starts)), tokens]
    kept = zip(starts, pairwise(borders), strict=True)
    return [Window(start, start + width, first, last) for start, (first, last) in kept]


class Encoder:
    """An encoder up to the layer that is compared. Uses a graphics card where one has room, else the processor.

    Raises:
        ConfigError: the folder's files do not make a whole model.
    """

    def __init__(self, folder: EncoderFolder, threads: int) -> None:
        # Before the packages are imported, which read this once: they would look for a newer model on a hub.
        os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        import torch
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        torch.set_num_threads(max(1, threads))
        self._torch = torch
        closed = {"local_files_only": True, "trust_remote_code": False}  # no hub, and no code of the folder's own
        try:
            with torch.random.fork_rng(devices=[]):  # loading may draw numbers
                model, found = transformers.AutoModel.from_pretrained(
                    folder.folder, use_safetensors=True, output_loading_info=True, **closed
                )
            kind = {"add_prefix_space": True} if folder.family == "roberta" else {}
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder.folder, **closed, **kind)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError) as error:
            raise ConfigError(f"bertscore_model: the folder cannot be loaded ({type(error).__name__})", SET) from None
        # transformers fills what the weights lack with random numbers. Nobody looks at what comes out of the pooler.
        if lacking := sorted(name for name in found["missing_keys"] if not name.startswith("pooler.")):
            raise ConfigError(
                f"bertscore_model: the weights lack {len(lacking)} tensors of the model that config.json names, "
                f"such as {lacking[0]}",
                SET,
            )
        stack = model.transformer if folder.family == "distilbert" else model.encoder
        stack.layer = stack.layer[: folder.layer]  # what lies above is never looked at
        self._device = "cpu"
        if torch.cuda.is_available() and torch.cuda.mem_get_info()[0] > _ROOM:
            self._device = "cuda"
        self._model = model.float().eval().to(self._device)
        longest = self._tokenizer.model_max_length
        self._around = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        if not isinstance(longest, int | float) or not longest >= LEAST_POSITIONS or None in self._around:
            raise ConfigError(
                "bertscore_model: the tokenizer has no signs for a text's ends, or takes fewer than "
                f"{LEAST_POSITIONS} tokens (model_max_length of tokenizer_config.json)",
                SET,
            )
        self._width = int(min(folder.positions, longest)) - 2  # beside the special tokens

    def compare(self, comparisons: Sequence[tuple[str, Sequence[str], bool]]) -> list[list[Figures | None] | None]:
        """Compare (an answer, its references, whether long texts are cut off).

        Returns, in the same order, a figure triple for every reference, None for one that the encoder cannot read; or
        None for an answer without a single token.

        Raises:
            ConfigError: the encoder computes what is no number.
        """
        tokens: dict[str, list[int]] = {}
        for text in dict.fromkeys(one for answer, golds, _ in comparisons for one in (answer, *golds)):
            tokens[text] = self._tokenizer(text.strip(), add_special_tokens=False, verbose=False)["input_ids"]
        cut = {
            (text, is_cut and len(tokens[text]) > self._width)
            for answer, golds, is_cut in comparisons
            for text in (answer, *golds)
        }
        vectors = self._vectors({key: tokens[key[0]][: self._width] if key[1] else tokens[key[0]] for key in cut})

        def vector(text: str, is_cut: bool) -> Any:
            return vectors[text, is_cut and len(tokens[text]) > self._width]

        return [
            [
                self._figures(vector(answer, is_cut), vector(gold, is_cut))
                if self._reads(tokens[gold], by_us=not is_cut)
                else None
                for gold in golds
            ]
            if tokens[answer]
            else None
            for answer, golds, is_cut in comparisons
        ]

    def _reads(self, tokens: Sequence[int], *, by_us: bool) -> bool:
        """Whether a reference can be compared with: unknown tokens are all alike, and would match each other."""
        known = sum(token != self._tokenizer.unk_token_id for token in tokens)
        return known >= _SHARE_READ * len(tokens) and known > 0 if by_us else bool(tokens)

    def _vectors(self, texts: dict[tuple[str, bool], list[int]]) -> dict[tuple[str, bool], Any]:
        """Return each text's vectors of length 1, with those of the special tokens at both ends."""
        torch = self._torch
        parts = [(key, window) for key, tokens in texts.items() for window in windows(len(tokens), self._width)]
        first, last = self._around
        seen = [[first, *texts[key][window.start : window.end], last] for key, window in parts]
        hidden: list[Any] = [None] * len(parts)
        for batch in _batches([len(one) for one in seen]):
            for index, vectors in zip(batch, self._encode([seen[index] for index in batch]), strict=True):
                hidden[index] = vectors
        kept: dict[tuple[str, bool], list[Any]] = {}
        for (key, window), vectors in zip(parts, hidden, strict=True):
            inner = vectors[1 + window.first - window.start : 1 + window.last - window.start]
            before = [vectors[:1]] if window.first == 0 else []
            after = [vectors[-1:]] if window.last == len(texts[key]) else []
            kept.setdefault(key, []).extend([*before, inner, *after])
        return {key: torch.cat([piece.to(self._device) for piece in pieces]) for key, pieces in kept.items()}

    def _encode(self, batch: Sequence[Sequence[int]]) -> list[Any]:
        """Return the unit vectors of every row of tokens."""
        torch = self._torch
        longest, padding = max(map(len, batch)), self._tokenizer.pad_token_id or 0
        ids = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in batch])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in batch])
        with torch.inference_mode():
            try:
                found = self._model(input_ids=ids.to(self._device), attention_mask=mask.to(self._device))
            except torch.OutOfMemoryError:
                if self._device == "cpu":
                    raise
                self._device = "cpu"  # a model server took the room: slower from here, and the same figures
                self._model = self._model.to("cpu")
                found = self._model(input_ids=ids, attention_mask=mask)
            unit = torch.nn.functional.normalize(found.last_hidden_state, dim=-1)
        return [row[: len(tokens)].to(self._device) for row, tokens in zip(unit, batch, strict=True)]

    def _figures(self, answer: Any, gold: Any) -> Figures:
        """Return precision, recall and F1. Special tokens may be matched with, and do not count themselves."""
        with self._torch.inference_mode():
            alike = answer.to(self._device) @ gold.to(self._device).T
            precision = float(alike.max(dim=1).values[1:-1].mean())
            recall = float(alike.max(dim=0).values[1:-1].mean())
        whole = precision + recall
        if not math.isfinite(whole):
            raise ConfigError("bertscore_model: the encoder's vectors are no numbers; its weights are damaged", SET)
        return precision, recall, 2 * precision * recall / whole if whole > 0 else 0.0


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield indexes in batches of like length, so that little is padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
