"""The digest of a definition is that of all files as they were read."""

import agent.catalog.definition_files as files_module
from agent.catalog.benchmark import load_benchmark
from tests.agent.catalog.definitions import GOOD, definition


def test_the_digest_changes_with_every_file_of_the_definition(tmp_path):
    path = definition(tmp_path, GOOD)
    digests = {load_benchmark(path).digest}
    (tmp_path / "prompt.txt").write_text("{note} ")
    digests.add(load_benchmark(path).digest)
    path.write_text(GOOD + "# a comment\n")
    digests.add(load_benchmark(path).digest)
    assert len(digests) == 3
    assert load_benchmark(path).digest in digests


def test_a_prompt_is_hashed_as_it_was_read(tmp_path, monkeypatch):
    path = definition(tmp_path, GOOD)
    expected = load_benchmark(path)
    read = files_module.read_bytes

    def read_then_replace(file, error):
        data = read(file, error)
        file.write_bytes(b"another prompt")
        return data

    monkeypatch.setattr(files_module, "read_bytes", read_then_replace)
    assert load_benchmark(path) == expected
