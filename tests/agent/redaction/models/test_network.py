"""A network's files are checked when they are read, and its sums are those of the library."""

import json
from pathlib import Path

import numpy as np
import pytest

from agent.errors import RedactionError
from agent.redaction.models.network import PADDING, Lexicon, features, read_network, row
from tests.agent.redaction.models.small_model import train_small


@pytest.mark.parametrize("file", ["weights", "ordinary_words", "meta.json"])
def test_a_model_with_a_damaged_or_missing_file_is_refused_by_name_of_the_file_alone(
    tmp_path: Path, file: str
) -> None:
    folder = train_small(tmp_path / "model", steps=1)
    content = (folder / file).read_bytes()
    for damaged in (content[: len(content) // 2] + b"abc", b"{", None):
        if damaged is None:
            (folder / file).unlink()
        else:
            (folder / file).write_bytes(damaged)
        with pytest.raises(RedactionError, match="model model"):
            read_network(folder)


def test_a_model_of_another_version_of_the_features_is_refused(tmp_path: Path) -> None:
    folder = train_small(tmp_path / "model", steps=1)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"features": 99}))
    with pytest.raises(RedactionError, match="another version"):
        read_network(folder)


def test_numbers_of_one_form_look_alike_and_ordinary_words_are_known() -> None:
    lexicon = Lexicon.of({"fever", "ward"})
    assert features("MRN-4711", lexicon) == features("MRN-0815", lexicon)
    assert features("Fever", lexicon)[-1].startswith("+")
    assert features("Kowalski", lexicon)[-1].startswith("-")


def test_a_text_longer_than_the_memory_of_words_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = read_network(train_small(tmp_path / "model", steps=1))
    words = [f"w{number}" for number in range(3_000)]
    whole = network.probabilities(words)
    small = read_network(tmp_path / "model", cached_words=100)
    assert (abs(small.probabilities(words) - whole) < 1e-5).all()


def test_what_is_written_out_gives_what_the_library_gives(tmp_path: Path) -> None:
    network = read_network(train_small(tmp_path / "model", steps=30))
    words = [
        "Patient",
        "Ilka",
        "was",
        "seen",
        "in",
        "clinic",
        "by",
        "Ophelia",
        ",",
        "Dr.",
        "Quatal",
        "12/03/2024",
    ]
    found = network.probabilities(words)
    edge = [PADDING for _ in range(network.meta.shape.depth)]
    rows = np.array(
        [row(word, network.lexicon) for word in [*edge, *words, *edge]], dtype=np.uint64
    )
    theirs = network.texts.predict(network.words.predict(rows))[len(edge) : len(edge) + len(words)]
    assert np.abs(found - theirs).max() < 1e-5
