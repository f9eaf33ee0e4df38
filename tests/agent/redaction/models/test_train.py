"""Training on a handful of texts: what an engineer or a site's administrator does with the trainer."""

import json
from pathlib import Path

import numpy as np
import pytest
import spacy

from agent.errors import RedactionError
from agent.redaction.models.network import PADDING, Lexicon, Shape, features, read_network, row
from agent.redaction.models.train import Example, list_kinds, train_model

_NAMES = ("Anna", "Bruno", "Carla", "Dimitri", "Esra", "Farid", "Greta", "Hugo")
_TEXTS: list[Example] = [
    (f"{opening} {name} was seen in clinic.", ((len(opening) + 1, len(opening) + 1 + len(name), "NAME"),))
    for name in _NAMES
    for opening in ("Patient", "Today", "Then")
]


def _train(folder: Path, steps: int = 40, **others: object) -> Path:
    return train_model(_TEXTS, folder, language="en", seed=3, steps=steps, shape=Shape(16, 1), **others)  # type: ignore[arg-type]


def _names(folder: Path, text: str) -> list[str]:
    network = read_network(folder)
    words = [token.text for token in spacy.blank("en").make_doc(text)]
    column = network.meta.kinds.index("NAME")
    return [word for word, row in zip(words, network.probabilities(words), strict=True) if row[column] > 0.5]


def test_what_was_learnt_is_read_back_and_holds_for_an_unseen_name(tmp_path: Path) -> None:
    folder = _train(tmp_path / "model")
    assert _names(folder, "Patient Ilka was seen in clinic.") == ["Ilka"]


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    one, other = _train(tmp_path / "one", steps=5), _train(tmp_path / "other", steps=5)
    assert (one / "weights").read_bytes() == (other / "weights").read_bytes()


def test_a_site_goes_on_from_a_model_and_keeps_its_kinds(tmp_path: Path) -> None:
    base = _train(tmp_path / "base", bounds={"NAME": 0.2})
    more = [("Seen by Ophelia in clinic.", ((8, 15, "NAME"),))] * 5
    tuned = train_model(more, tmp_path / "tuned", language="en", seed=1, steps=10, base=base)
    assert read_network(tuned).meta.kinds == read_network(base).meta.kinds
    assert read_network(tuned).meta.bounds["NAME"] == pytest.approx(0.2)
    assert _names(tuned, "Seen by Ophelia in clinic.") == ["Ophelia"]


def test_a_kind_that_the_base_does_not_have_is_refused(tmp_path: Path) -> None:
    base = _train(tmp_path / "base", steps=1)
    with pytest.raises(ValueError, match="no kinds LOCATION"):
        train_model([("in Rome", ((3, 7, "LOCATION"),))], tmp_path / "x", language="en", seed=1, steps=1, base=base)


@pytest.mark.parametrize("file", ["weights", "ordinary_words", "meta.json"])
def test_a_model_with_a_damaged_or_missing_file_is_refused_by_name_of_the_file_alone(tmp_path: Path, file: str) -> None:
    folder = _train(tmp_path / "model", steps=1)
    content = (folder / file).read_bytes()
    for damaged in (content[: len(content) // 2] + b"abc", b"{", None):
        if damaged is None:
            (folder / file).unlink()
        else:
            (folder / file).write_bytes(damaged)
        with pytest.raises(RedactionError, match="model model"):
            read_network(folder)


def test_a_model_of_another_version_of_the_features_is_refused(tmp_path: Path) -> None:
    folder = _train(tmp_path / "model", steps=1)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"features": 99}))
    with pytest.raises(RedactionError, match="another version"):
        read_network(folder)


def test_a_place_in_the_middle_of_a_word_marks_the_whole_word() -> None:
    doc = spacy.blank("en").make_doc("Call Annabel now")
    assert list_kinds(doc, [(6, 9, "NAME")]) == ["O", "NAME", "O"]


def test_numbers_of_one_form_look_alike_and_ordinary_words_are_known() -> None:
    lexicon = Lexicon.of({"fever", "ward"})
    assert features("MRN-4711", lexicon) == features("MRN-0815", lexicon)
    assert features("Fever", lexicon)[-1].startswith("+")
    assert features("Kowalski", lexicon)[-1].startswith("-")


def test_a_text_longer_than_the_memory_of_words_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = read_network(_train(tmp_path / "model", steps=1))
    words = [f"w{number}" for number in range(3_000)]
    whole = network.probabilities(words)
    small = read_network(tmp_path / "model", cached_words=100)
    assert (abs(small.probabilities(words) - whole) < 1e-5).all()


def test_what_is_written_out_gives_what_the_library_gives(tmp_path: Path) -> None:
    network = read_network(_train(tmp_path / "model", steps=30))
    words = ["Patient", "Ilka", "was", "seen", "in", "clinic", "by", "Ophelia", ",", "Dr.", "Quatal", "12/03/2024"]
    found = network.probabilities(words)
    edge = [PADDING for _ in range(network.meta.shape.depth)]
    rows = np.array([row(word, network.lexicon) for word in [*edge, *words, *edge]], dtype=np.uint64)
    theirs = network.texts.predict(network.words.predict(rows))[len(edge) : len(edge) + len(words)]
    assert np.abs(found - theirs).max() < 1e-5
