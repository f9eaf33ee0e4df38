"""Instances of one question: with a free answer, and with options."""

from agent.vocabulary import Instance, Message, Reference


def free(*gold: str, wrong: tuple[str, ...] = ()) -> Instance:
    references = (*(Reference(g, True) for g in gold), *(Reference(w, False) for w in wrong))
    return Instance("1", "1", (Message("user", "?"),), references)


CHOICE = Instance(
    "1",
    "1",
    (Message("user", "?"),),
    (Reference("Aspirin", False), Reference("Heparin", True), Reference("Heparin", False)),
    multiple_choice=True,
)
