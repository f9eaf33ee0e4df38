"""Readers of the board are warned of a jury that is one model, and of a model on its own jury."""

from aggregator.board.graders import view_graders
from protocol.registry import Model
from protocol.scorecard import Jury

TINY = Model("org/tiny", "Tiny", "", is_language_model=True)
OTHER = Model("org/other", "Other", "", is_language_model=True)


def seat(*names: str) -> Jury:
    return Jury("notes", names, "0" * 64, len(names) // 2 + 1)


def test_one_model_on_all_seats_is_counted_and_warned_of():
    view = view_graders(seat("org/tiny", "org/tiny", "org/tiny"), [OTHER])
    assert view is not None
    assert view.judges == ("org/tiny (3 seats)",)
    assert view.one_model
    assert view.self_graded == ()


def test_a_model_on_its_own_jury_is_named():
    view = view_graders(seat("org/a", "org/b", "org/tiny"), [TINY, OTHER])
    assert view is not None
    assert view.self_graded == ("Tiny",)
    assert not view.one_model


def test_a_single_judge_is_no_jury_of_one_model_in_many_seats():
    view = view_graders(seat("org/a"), [OTHER])
    assert view is not None
    assert not view.one_model
    assert view_graders(None, [OTHER]) is None
