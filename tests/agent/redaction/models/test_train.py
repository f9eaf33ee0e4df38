"""Training on a handful of texts: what an engineer or a site's administrator does with the trainer."""

from pathlib import Path

import pytest
import spacy

from agent.redaction.models.network import read_network
from agent.redaction.models.train import list_kinds, train_model
from tests.agent.redaction.models.small_model import train_small


def _names(folder: Path, text: str) -> list[str]:
    network = read_network(folder)
    words = [token.text for token in spacy.blank("en").make_doc(text)]
    column = network.meta.kinds.index("NAME")
    return [
        word
        for word, row in zip(words, network.probabilities(words), strict=True)
        if row[column] > 0.5
    ]


def test_what_was_learnt_is_read_back_and_holds_for_an_unseen_name(tmp_path: Path) -> None:
    folder = train_small(tmp_path / "model")
    assert _names(folder, "Patient Ilka was seen in clinic.") == ["Ilka"]


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    one, other = train_small(tmp_path / "one", steps=5), train_small(tmp_path / "other", steps=5)
    assert (one / "weights").read_bytes() == (other / "weights").read_bytes()


def test_a_site_goes_on_from_a_model_and_keeps_its_kinds(tmp_path: Path) -> None:
    base = train_small(tmp_path / "base", bounds={"NAME": 0.2})
    more = [("Seen by Ophelia in clinic.", ((8, 15, "NAME"),))] * 5
    tuned = train_model(more, tmp_path / "tuned", language="en", seed=1, steps=10, base=base)
    assert read_network(tuned).meta.kinds == read_network(base).meta.kinds
    assert read_network(tuned).meta.bounds["NAME"] == pytest.approx(0.2)
    assert _names(tuned, "Seen by Ophelia in clinic.") == ["Ophelia"]


def test_a_kind_that_the_base_does_not_have_is_refused(tmp_path: Path) -> None:
    base = train_small(tmp_path / "base", steps=1)
    with pytest.raises(ValueError, match="no kinds LOCATION"):
        train_model(
            [("in Rome", ((3, 7, "LOCATION"),))],
            tmp_path / "x",
            language="en",
            seed=1,
            steps=1,
            base=base,
        )


def test_a_place_in_the_middle_of_a_word_marks_the_whole_word() -> None:
    doc = spacy.blank("en").make_doc("Call Annabel now")
    assert list_kinds(doc, [(6, 9, "NAME")]) == ["O", "NAME", "O"]
