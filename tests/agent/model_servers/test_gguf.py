"""Headers of GGUF files: read in due form, and refused wherever the file breaks off."""

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.io.model_folder import ModelFolderError
from agent.model_servers.gguf import GgufHeader, read_header
from tests.agent.model_servers.gguf_files import write_gguf


@pytest.mark.parametrize("version", [2, 3])
def test_the_context_and_the_template_are_read(tmp_path: Path, version: int):
    path = write_gguf(tmp_path / "m.gguf", context=8192, template="{{ x }}", version=version)
    assert read_header(path) == GgufHeader(8192, has_chat_template=True)


def test_a_word_of_the_vocabulary_is_no_template(tmp_path: Path):
    path = write_gguf(tmp_path / "m.gguf")
    assert b"tokenizer.chat_template" in path.read_bytes()
    assert read_header(path) == GgufHeader(None, has_chat_template=False)


def test_a_file_is_refused_wherever_it_breaks_off_before_its_last_tensor(tmp_path: Path):
    whole = write_gguf(tmp_path / "m.gguf", context=8192, template="{{ x }}").read_bytes()
    broken = tmp_path / "broken.gguf"
    for length in range(8, len(whole) - 31):
        broken.write_bytes(whole[:length])
        with pytest.raises(ModelFolderError, match=r"broken\.gguf is truncated or damaged"):
            read_header(broken)
    broken.write_bytes(whole[:-31])  # the engine itself reads the tensors
    assert read_header(broken) is not None


def test_a_version_that_is_not_known_is_left_to_the_engine(tmp_path: Path):
    assert read_header(write_gguf(tmp_path / "m.gguf", version=99)) is None


def test_arrays_nested_without_end_are_refused(tmp_path: Path):
    path = tmp_path / "deep.gguf"
    key = struct.pack("<Q", 1) + b"k" + struct.pack("<I", 9)
    path.write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key + struct.pack("<IQ", 9, 1) * 10_000
    )
    with pytest.raises(ModelFolderError):
        read_header(path)


@given(
    position=st.integers(min_value=8, max_value=200), value=st.integers(min_value=0, max_value=255)
)
def test_a_changed_byte_is_read_or_refused(
    position: int, value: int, tmp_path_factory: pytest.TempPathFactory
):
    path = write_gguf(tmp_path_factory.getbasetemp() / "changed.gguf", context=8192)
    content = bytearray(path.read_bytes())
    content[position % len(content)] = value
    path.write_bytes(content)
    with suppress(ModelFolderError):
        read_header(path)
