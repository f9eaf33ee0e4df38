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
    "bert camembert deberta deberta-v2 distilbert electra mpnet roberta xlm-roberta".split()  # noqa: SIM905 (a row of names)
)
"""Kinds of encoder, as `model_type` of config.json names them, whose layers can be chosen."""

_POSITIONS_LOST = {
    "camembert": 2,
    "mpnet": 2,
    "roberta": 2,
    "xlm-roberta": 2,
}  # their positions begin at 2
# Kind and number of layers -> the layer chosen on WMT16 by BERTScore's authors (Zhang et al. 2020), of the models
# distilbert-base-uncased, bert-base-uncased, bert-large-uncased, distilroberta-base, roberta-base, roberta-large.
_CHOSEN = {
    ("distilbert", 6): 5,
    ("bert", 12): 9,
    ("bert", 24): 18,
    ("roberta", 6): 5,
    ("roberta", 12): 10,
    ("roberta", 24): 17,
}
_READ = (".json", ".txt", ".model", ".safetensors")  # what transformers reads of a folder
_TOKENIZER_FILES = (
    "vocab_file",
    "merges_file",
    "spm_file",
    "tokenizer_file",
    "fast_tokenizer_files",
)
_PACKAGES = ("torch", "transformers")
MIN_POSITIONS = 16  # tokens that an encoder takes at once, or its windows see nothing
INSTALL = "Install the extra: pip install 'intramural[bertscore]'."
SET = (
    "Set bertscore_model in site.yaml to the folder of an encoder, such as a copy of distilbert-base-uncased; "
    "docs/scoring.md says which files it needs. Nothing is downloaded."
)


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """An encoder that can be loaded.

    Attributes:
        folder: where it lies.
        family: one of FAMILIES.
        layers: how many it has.
        layer: the one whose vectors are compared, counted from 1.
        positions: tokens that fit it at once, the two that stand around a text included.
        digest: sha256 over the names and contents of its files, in hex.
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
    """Look at an encoder's folder.

    Raises:
        ConfigError: it is no such folder, its kind is unknown, a file is cut off, or there is no such layer.
    """
    config = _json(folder, "config.json")
    family = config.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise _wrong(f"config.json: model_type is none of {', '.join(sorted(FAMILIES))}")
    layers = config.get("num_hidden_layers", config.get("n_layers"))
    positions = config.get("max_position_embeddings")
    if (
        type(layers) is not int
        or layers < 1
        or type(positions) is not int
        or positions < MIN_POSITIONS
    ):
        raise _wrong(
            "config.json: expected the numbers num_hidden_layers (or n_layers) and max_position_embeddings"
        )
    try:
        check_weights(folder)
    except ModelFolderError as error:
        raise _wrong(str(error)) from None
    if not any((folder / name).is_file() for name in ("tokenizer.json", "vocab.txt", "vocab.json")):
        raise _wrong("it has no tokenizer: neither tokenizer.json nor vocab.txt")
    chosen = layer if layer is not None else _CHOSEN.get((family, layers))
    if chosen is None:
        raise ConfigError(
            f"bertscore_model: for {family} of {layers} layers no layer was ever chosen",
            f"Set bertscore_layer in site.yaml, from 1 to {layers}.",
        )
    if not 1 <= chosen <= layers:
        raise ConfigError(
            f"bertscore_layer: the encoder has no layer {chosen}",
            f"Give a number from 1 to {layers}, or leave it out.",
        )
    held = [path for path in sorted(folder.iterdir()) if path.suffix in _READ and path.is_file()]
    _check_named_files(folder, config, {path.name for path in held})
    fits = positions - _POSITIONS_LOST.get(family, 0)
    try:
        digest = compute_digest(folder, held)
    except ModelFolderError as error:
        raise _wrong(str(error)) from None
    return EncoderFolder(folder, family, layers, chosen, fits, digest)


def _json(folder: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads((folder / name).read_bytes())
    except OSError as error:
        raise _wrong(f"{name} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise _wrong(f"{name} is no JSON") from None
    if not isinstance(found, dict):
        raise _wrong(f"{name}: expected a map")
    return found


def _check_named_files(folder: Path, config: dict[str, Any], held: set[str]) -> None:
    """Check that the digest covers every file that transformers would load, as some files name further files."""
    if (folder / "adapter_config.json").exists():
        raise _wrong(
            "it holds an adapter (adapter_config.json), whose weights belong to a model elsewhere"
        )
    named: dict[str, list[Any]] = {"config.json": [config.get("transformers_weights")]}
    if "tokenizer_config.json" in held:
        settings = _json(folder, "tokenizer_config.json")
        named["tokenizer_config.json"] = [settings.get(key) for key in _TOKENIZER_FILES]
    for index in sorted(name for name in held if name.endswith(".safetensors.index.json")):
        shards = _json(folder, index).get("weight_map")
        named[index] = list(shards.values()) if isinstance(shards, dict) else [shards]
    for file, values in named.items():
        for value in values:
            names = value if isinstance(value, list) else [value]
            if not all(_is_held(name, held) for name in names):
                raise _wrong(f"{file} names a file that is not in the folder")


def _is_held(name: object, held: set[str]) -> bool:
    """Tell whether a file's name is unset, or is that of a file in the folder."""
    return name is None or (isinstance(name, str) and name in held)


def _wrong(problem: str) -> ConfigError:
    return ConfigError(f"bertscore_model: {problem}", SET)
