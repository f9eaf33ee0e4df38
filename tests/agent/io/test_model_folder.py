"""The folder of a model: weights that are whole, and a digest that any other byte changes."""

import json
import os
from pathlib import Path

import pytest

from agent.io.model_folder import ModelFolderError, check_weights, compute_digest


def write_weights(path: Path, *, cut: int = 0) -> None:
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": {"data_offsets": [0, 8]}}).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(8)
    path.write_bytes(content[: len(content) - cut])


def test_whole_weights_pass_and_each_file_that_is_cut_off_is_named(tmp_path: Path):
    write_weights(tmp_path / "one.safetensors")
    check_weights(tmp_path)
    write_weights(tmp_path / "two.safetensors", cut=1)
    with pytest.raises(ModelFolderError, match=r"^two\.safetensors is truncated"):
        check_weights(tmp_path)


def test_a_header_that_states_terabytes_is_not_read(tmp_path: Path):
    (tmp_path / "one.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(ModelFolderError, match="truncated"):
        check_weights(tmp_path)


def test_the_digest_is_that_of_names_and_contents_in_any_order(tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    digest = compute_digest(tmp_path, [one, two])
    assert compute_digest(tmp_path, [two, one]) == digest
    two.write_text("3")
    os.utime(two, ns=(1, 1))  # as a later hour would
    assert compute_digest(tmp_path, [one, two]) != digest
    two.rename(tmp_path / "three")
    with pytest.raises(ModelFolderError, match="cannot be read"):
        compute_digest(tmp_path, [one, two])
