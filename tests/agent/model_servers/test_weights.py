"""Weights on disk: what is refused before an engine reads it, and the digest that follows the bytes."""

import json
import os
import struct
from pathlib import Path

import pytest

from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError
from agent.model_servers.weights import check_weights, compute_digest
from tests.agent.model_servers.gguf_files import write_gguf


def write_folder(folder: Path, *names: str) -> Path:
    """Write a model's folder with one small file of weights, and further empty files."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    header = json.dumps({"w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"ab")
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def check(server: ModelServer) -> str:
    with pytest.raises(ConfigError) as caught:
        check_weights(server, "local/m")
    return str(caught.value)


def test_whole_weights_are_accepted(tmp_path: Path):
    gguf = tmp_path / "m.gguf"
    gguf.write_bytes(b"GGUF....")
    check_weights(ModelServer("llamacpp", gguf), "local/m")
    check_weights(ModelServer("vllm", write_folder(tmp_path / "m")), "local/m")


def test_a_context_beyond_the_model_is_refused(tmp_path: Path):
    gguf = write_gguf(tmp_path / "m.gguf", context=8192)
    check_weights(ModelServer("llamacpp", gguf, context=8192), "local/m")
    problem = check(ModelServer("llamacpp", gguf, context=99999))
    assert "context is 99999, but m.gguf was trained with 8192 tokens" in problem


@pytest.mark.parametrize("name", ["pytorch_model.bin", "weights.pt", "old.ckpt", "x.pkl"])
def test_a_pickled_file_beside_good_weights_is_refused(tmp_path: Path, name: str):
    problem = check(ModelServer("vllm", write_folder(tmp_path / "m", name)))
    assert name in problem
    assert "can run code" in problem


def test_a_truncated_gguf_file_or_part_is_refused_before_it_is_loaded(tmp_path: Path):
    first = write_gguf(tmp_path / "m-00001-of-00002.gguf")
    second = write_gguf(tmp_path / "m-00002-of-00002.gguf")
    check_weights(ModelServer("llamacpp", first), "local/m")
    second.write_bytes(second.read_bytes()[:100])
    assert f"{second.name} is truncated" in check(ModelServer("llamacpp", first))


def test_wrong_files_are_refused_by_name(tmp_path: Path):
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    assert "notes.txt is not a GGUF file" in check(ModelServer("llamacpp", text))
    assert "there is no file gone.gguf" in check(ModelServer("llamacpp", tmp_path / "gone.gguf"))
    assert "there is no folder gone" in check(ModelServer("vllm", tmp_path / "gone"))
    assert "notes.txt is a file, and vLLM needs" in check(ModelServer("vllm", text))
    a_folder = ModelServer("llamacpp", tmp_path)
    assert f"{tmp_path.name} is a folder, and llama.cpp needs a GGUF file" in check(a_folder)
    whole = write_folder(tmp_path / "m")
    (whole / "model.safetensors.index.json").write_text(
        '{"weight_map": {"w": "part-2.safetensors"}}'
    )
    assert "part-2.safetensors is missing" in check(ModelServer("vllm", whole))
    (whole / "model.safetensors").write_bytes(b"\0" * 9)
    assert "truncated" in check(ModelServer("vllm", whole))


def test_the_digest_follows_the_bytes_and_is_kept(tmp_path: Path):
    folder, cache = write_folder(tmp_path / "m"), tmp_path / "servers" / "weights.json"
    first = compute_digest(folder, cache)
    assert compute_digest(folder, cache) == first
    assert first in cache.read_text()
    (folder / "config.json").write_text('{"a": 1}')
    assert compute_digest(folder, cache) != first
    cache.write_text("damaged")
    assert compute_digest(write_folder(tmp_path / "copy" / "m"), cache) == first


def test_weights_swapped_under_the_same_size_and_time_are_hashed_anew(tmp_path: Path):
    weights, cache = tmp_path / "m.gguf", tmp_path / "servers" / "weights.json"
    weights.write_bytes(b"GGUF the model")
    first = compute_digest(weights, cache)
    status = weights.stat()
    weights.write_bytes(b"GGUF a traitor")
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert compute_digest(weights, cache) != first
    # `rsync --times` and `cp --preserve` put another file in its place.
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(b"GGUF the model")
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    copy.replace(weights)
    assert compute_digest(weights, cache) == first


def test_the_digest_covers_every_part_of_a_split_gguf_file(tmp_path: Path):
    parts = [tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.write_bytes(b"GGUF....")
    (tmp_path / "other.gguf").write_bytes(b"GGUF....")
    cache = tmp_path / "servers" / "weights.json"
    server = ModelServer("llamacpp", parts[0])
    check_weights(server, "local/m")
    first = compute_digest(parts[0], cache)
    (tmp_path / "other.gguf").write_bytes(b"GGUF of nobody")
    assert compute_digest(parts[0], cache) == first
    parts[1].write_bytes(b"GGUF of another model")
    assert compute_digest(parts[0], cache) != first
    parts[1].unlink()
    assert "m-00002-of-00002.gguf is missing" in check(server)
    parts[1].write_bytes(b"GGUF....")
    assert "name the first, m-00001-of-00002.gguf" in check(ModelServer("llamacpp", parts[1]))
