"""Check the files of a model's weights, and compute the digest that identifies them."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError
from agent.io import model_folder
from agent.io.atomic_files import write_atomically
from agent.io.model_folder import ModelFolderError
from agent.model_servers.chat_templates import digest_with_template, read_chat_template
from agent.model_servers.gguf import SIGN, GgufHeader, read_header

# Reading such a file can run code that somebody put into it.
_PICKLED = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})
_DIGESTS = "weights.json"  # in the site's folder `servers`
_INDEX = "model.safetensors.index.json"
_CONFIG = "config.json"
# llama.cpp reads the other parts of a split file by itself.
_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf", re.DOTALL)


def check_weights(server: ModelServer, deployment: str) -> None:
    """Check that the engine can load the weights, as far as their files show.

    Raises:
        ConfigError: the file or folder is missing, is of another kind, is incomplete, or can run code when it is read;
            or the chat template cannot be read.
    """
    try:
        if server.engine == "llamacpp":
            header = _check_gguf(server.weights)
        else:
            header = None
            _check_folder(server.weights)
    except ModelFolderError as error:
        raise ConfigError(
            f"deployment {deployment}: model_server: weights: {error}",
            "llama.cpp reads one GGUF file; vLLM reads a model's whole folder with config.json and safetensors files.",
        ) from None
    _check_context(server, deployment, header)
    read_chat_template(server)


def compute_server_digest(server: ModelServer, servers: Path) -> str:
    """Return the digest of a server's weights, and of its chat template if it has one of its own.

    Args:
        server: the server.
        servers: the site's folder `servers`, where the digests computed so far are kept.

    Raises:
        ConfigError: a file cannot be read.
    """
    weights = compute_digest(server.weights, servers / _DIGESTS)
    return digest_with_template(weights, server)


def compute_digest(weights: Path, cache: Path) -> str:
    """Return the SHA-256 over the names and contents of all files of the weights.

    Reading tens of gigabytes takes minutes, so the digest is kept until a file is written or replaced, which its
    status shows even if its size and modification time stay the same.

    Args:
        weights: a file, the first part of a split GGUF file, or a folder.
        cache: JSON file with the digests computed so far. It is made if it does not exist.

    Raises:
        ConfigError: a file cannot be read.
    """
    folder = weights.parent if weights.is_file() else weights
    files = list(_list_files(weights))
    try:
        stamp = _stamp_files(folder, files)
        known = _read_cache(cache)
        if stamp not in known:
            known[stamp] = model_folder.compute_digest(folder, files)
            cache.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomically(cache, json.dumps(known).encode())
    except OSError as error:
        raise ConfigError(f"{weights.name} cannot be read ({error.strerror})") from None
    except ModelFolderError as error:
        raise ConfigError(f"{weights.name}: {error}") from None
    return known[stamp]


def stamp_weights(weights: Path) -> str:
    """Return a digest of the status of the weights' files, which changes whenever one is written or replaced.

    Raises:
        OSError: a file is missing.
    """
    folder = weights.parent if weights.is_file() else weights
    return _stamp_files(folder, list(_list_files(weights)))


def _check_gguf(path: Path) -> GgufHeader | None:
    """Check all parts of a GGUF file; return the header of the first, see `read_header`."""
    if not path.is_file():
        if path.is_dir():
            raise ModelFolderError(f"{path.name} is a folder, and llama.cpp needs a GGUF file")
        raise ModelFolderError(f"there is no file {path.name}")
    try:
        with path.open("rb") as file:
            sign = file.read(len(SIGN))
    except OSError as error:
        raise ModelFolderError(f"{path.name} cannot be read ({error.strerror})") from None
    if sign != SIGN:
        raise ModelFolderError(f"{path.name} is not a GGUF file")
    first, *others = _list_parts(path)
    if first != path:
        raise ModelFolderError(
            f"{path.name} is a part of a split file; name the first, {first.name}"
        )
    for part in others:
        if not part.is_file():
            raise ModelFolderError(f"{part.name} is missing, a part of the split file {path.name}")
    try:
        headers = [read_header(part) for part in (path, *others)]
    except OSError as error:
        raise ModelFolderError(f"{path.name} cannot be read ({error.strerror})") from None
    return headers[0]


def _list_parts(path: Path) -> list[Path]:
    """Return the parts of a split GGUF file, by their names; another file is its own only part."""
    part = _PART.fullmatch(path.name)
    if part is None:
        return [path]
    base, _, count = part.groups()
    numbers = range(1, int(count) + 1)
    return [path.with_name(f"{base}-{number:05}-of-{count}.gguf") for number in numbers] or [path]


def _check_context(server: ModelServer, deployment: str, header: GgufHeader | None) -> None:
    """Refuse a context that the model cannot use: llama.cpp would reserve memory for all of it."""
    trained = header.context_length if header is not None else None
    if trained is None or server.context is None:
        return
    if server.context > trained:
        raise ConfigError(
            f"deployment {deployment}: model_server: context is {server.context}, but {server.weights.name} was "
            f"trained with {trained} tokens",
            f"Set context to at most {trained}, or omit it.",
        )


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        if folder.is_file():
            raise ModelFolderError(f"{folder.name} is a file, and vLLM needs the model's folder")
        raise ModelFolderError(f"there is no folder {folder.name}")
    names = {path.name for path in folder.iterdir()}
    pickled = sorted(name for name in names if Path(name).suffix in _PICKLED)
    if pickled:
        raise ModelFolderError(
            f"{pickled[0]} is pickled, so reading it can run code that somebody put into it; remove it"
        )
    if _CONFIG not in names:
        raise ModelFolderError(f"{folder.name} has no {_CONFIG}")
    model_folder.check_weights(folder)
    missing = sorted(_read_shards(folder / _INDEX) - names)
    if missing:
        raise ModelFolderError(f"{missing[0]} is missing, which {_INDEX} names")


def _read_shards(index: Path) -> set[str]:
    """Return the names of the files into which the weights are divided; empty if they are in one file."""
    if not index.is_file():
        return set()
    try:
        weight_map = json.loads(index.read_bytes())["weight_map"]
        return set(map(str, weight_map.values()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise ModelFolderError(f"{index.name} is not an index of safetensors files") from None


def _list_files(weights: Path) -> Iterator[Path]:
    """Yield the files of the weights, without hidden ones."""
    if weights.is_file():
        yield from _list_parts(weights)
        return
    for path in sorted(weights.rglob("*")):
        parts = path.relative_to(weights).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            yield path


def _stamp_files(folder: Path, files: list[Path]) -> str:
    """Return a digest of the files' places and of the status that changes whenever a file is written or replaced."""
    stamps: list[tuple[str, int, int, int, int, int]] = []
    for path in files:
        status = path.stat()
        name = path.relative_to(folder).as_posix()
        # Unlike the modification time, nobody can set the time of the last change (ctime).
        times = (status.st_mtime_ns, status.st_ctime_ns)
        stamps.append((name, status.st_size, *times, status.st_dev, status.st_ino))
    content = json.dumps([str(folder.absolute()), stamps])
    return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()


def _read_cache(cache: Path) -> dict[str, str]:
    try:
        content = json.loads(cache.read_bytes())
    except (OSError, ValueError):
        return {}  # a lost cache costs time, nothing else
    return content if isinstance(content, dict) else {}
