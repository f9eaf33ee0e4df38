"""Who graded the answers of a benchmark: the judges of its registered jury, and the warnings that a reader needs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from protocol.registry import Model
from protocol.scorecard import Jury


@dataclass(frozen=True, slots=True)
class GradersView:
    """A jury as a page shows it.

    Attributes:
        jury: the registered jury.
        judges: the model of each judge, once, with the number of its seats if it fills several.
        one_model: whether one model fills several seats and nobody else is on the jury.
        self_graded: display names of models whose figures are grades by a jury on which they sit themselves.
    """

    jury: Jury
    judges: tuple[str, ...]
    one_model: bool
    self_graded: tuple[str, ...]


def view_graders(jury: Jury | None, graded: Iterable[Model]) -> GradersView | None:
    """Return a jury with its warnings; None if the figures are computed.

    Args:
        jury: the jury of a benchmark's main metric.
        graded: the models that have a figure by this jury.
    """
    if jury is None:
        return None
    seats = Counter(jury.seats)
    judges: list[str] = []
    for name, count in seats.items():
        judges.append(name if count == 1 else f"{name} ({count} seats)")
    return GradersView(
        jury=jury,
        judges=tuple(judges),
        one_model=len(seats) == 1 < len(jury.seats),
        self_graded=tuple(model.display_name for model in graded if model.name in seats),
    )
