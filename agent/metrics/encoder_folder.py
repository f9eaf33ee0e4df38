"""Check the folder of an encoder for BERTScore, without loading the encoder. Nothing is ever downloaded.

The folder has the form that transformers saves: `config.json`, the tokenizer's files, weights as `.safetensors`.
Weights in a pickle (`pytorch_model.bin`) are refused, because reading a pickle may run code.
"""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent.errors import ConfigError
from agent.io.model_folder import ModelFolderError, check_weights, compute_digest

FAMILIES = frozenset(
    "bert camembert deberta deberta-v2 distilbert electra mpnet roberta xlm-roberta".split()  # noqa: SIM905 (names)
)
"""Supported kinds of encoder, by the `model_type` in config.json. Their layers can be chosen."""

_POSITIONS_LOST = {
    "camembert": 2,
    "mpnet": 2,
    "roberta": 2,
    "xlm-roberta": 2,
}  # kinds that number the positions of tokens from 2
# Kind and number of layers -> the layer chosen on WMT16 by BERTScore's authors (Zhang et al. 2020), for the models
# distilbert-base-uncased, bert-base-uncased, bert-large-uncased, distilroberta-base, roberta-base, roberta-large.
_CHOSEN = {
    ("distilbert", 6): 5,
    ("bert", 12): 9,
    ("bert", 24): 18,
    ("roberta", 6): 5,
    ("roberta", 12): 10,
    ("roberta", 24): 17,
}
_READ = (".json", ".txt", ".model", ".safetensors")  # files that transformers may read
_TOKENIZER_FILES = (
    "vocab_file",
    "merges_file",
    "spm_file",
    "tokenizer_file",
    "fast_tokenizer_files",
)
_PACKAGES = ("torch", "transformers")
# Minimum tokens that an encoder must accept, so that its windows have some context.
MIN_POSITIONS = 16
SET = (
    "Set bertscore_model in site.yaml to the folder of an encoder, such as a copy of distilbert-base-uncased; "
    "docs/scoring.md lists the files it needs. Nothing is downloaded."
)


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """An encoder that can be loaded.

    Attributes:
        folder: its path.
        family: one of FAMILIES.
        layers: the number of its layers.
        layer: the layer whose vectors are compared, counted from 1.
        positions: maximum tokens per window, including the two special tokens around a text.
        digest: SHA-256 over the names and contents of its files, in hex.
    """

    folder: Path
    family: str
    layers: int
    layer: int
    positions: int
    digest: str


def missing_packages() -> tuple[str, ...]:
    """Return the packages of the extra that are not installed."""
    return tuple(name for name in _PACKAGES if find_spec(name) is None)


def encoder_folder(folder: Path, layer: int | None = None) -> EncoderFolder:
    """Check an encoder's folder and describe it.

    Raises:
        ConfigError: the folder is missing or of an unknown kind, a file is cut off, or the layer does not exist.
    """
    config = _read_json_map(folder, "config.json")
    family = config.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise _make_error(f"config.json: model_type is not one of {', '.join(sorted(FAMILIES))}")
    layers = config.get("num_hidden_layers", config.get("n_layers"))
    positions = config.get("max_position_embeddings")
    if (
        type(layers) is not int
        or layers < 1
        or type(positions) is not int
        or positions < MIN_POSITIONS
    ):
        raise _make_error(
            "config.json: expected the numbers num_hidden_layers (or n_layers) and max_position_embeddings"
        )
    try:
        check_weights(folder)
    except ModelFolderError as error:
        raise _make_error(str(error)) from None
    if not any((folder / name).is_file() for name in ("tokenizer.json", "vocab.txt", "vocab.json")):
        raise _make_error("it has no tokenizer: neither tokenizer.json nor vocab.txt")
    chosen = layer if layer is not None else _CHOSEN.get((family, layers))
    if chosen is None:
        raise ConfigError(
            f"bertscore_model: for {family} of {layers} layers there is no default layer",
            f"Set bertscore_layer in site.yaml, from 1 to {layers}.",
        )
    if not 1 <= chosen <= layers:
        raise ConfigError(
            f"bertscore_layer: the encoder has no layer {chosen}",
            f"Set a number from 1 to {layers}, or remove the setting.",
        )
    held = [path for path in sorted(folder.iterdir()) if path.suffix in _READ and path.is_file()]
    _check_named_files(folder, config, {path.name for path in held})
    fits = positions - _POSITIONS_LOST.get(family, 0)
    try:
        digest = compute_digest(folder, held)
    except ModelFolderError as error:
        raise _make_error(str(error)) from None
    return EncoderFolder(folder, family, layers, chosen, fits, digest)


def _read_json_map(folder: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads((folder / name).read_bytes())
    except OSError as error:
        raise _make_error(f"{name} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise _make_error(f"{name} is not JSON") from None
    if not isinstance(found, dict):
        raise _make_error(f"{name}: expected a map")
    return found


def _check_named_files(folder: Path, config: dict[str, Any], held: set[str]) -> None:
    """Check that the digest covers every file that transformers would load, since some files name further files."""
    if (folder / "adapter_config.json").exists():
        raise _make_error(
            "it contains an adapter (adapter_config.json), which needs the weights of another model"
        )
    named: dict[str, list[Any]] = {"config.json": [config.get("transformers_weights")]}
    if "tokenizer_config.json" in held:
        settings = _read_json_map(folder, "tokenizer_config.json")
        named["tokenizer_config.json"] = [settings.get(key) for key in _TOKENIZER_FILES]
    for index in sorted(name for name in held if name.endswith(".safetensors.index.json")):
        shards = _read_json_map(folder, index).get("weight_map")
        named[index] = list(shards.values()) if isinstance(shards, dict) else [shards]
    for file, values in named.items():
        for value in values:
            names = value if isinstance(value, list) else [value]
            if not all(_is_held(name, held) for name in names):
                raise _make_error(f"{file} names a file that is not in the folder")


def _is_held(name: object, held: set[str]) -> bool:
    """Return whether a file name is unset or belongs to a file in the folder."""
    return name is None or (isinstance(name, str) and name in held)


def _make_error(problem: str) -> ConfigError:
    return ConfigError(f"bertscore_model: {problem}", SET)
