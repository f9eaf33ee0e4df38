"""Compare readings of the answers of two small real models with those of two people.

    python -m tests.agent.reading.small_models

Prints, for each model and benchmark, how often both agree, with Wilson's 95 % interval, and explains each answer about
which they differ. Below, the same for answers that one person read.
"""

from collections.abc import Sequence

from protocol.figures import wilson
from tests.agent.reading.corpus import (
    CORPUS,
    UNREAD,
    Answer,
    Tally,
    load_corpus,
    measure,
    read,
    read_file,
)

# Why the reader's value differs from the people's, by the number of the answer.
EXPLANATIONS: dict[int, str] = {}


def load_small_models() -> list[Answer]:
    """Return the answers of the corpus that small models gave."""
    return [answer for answer in load_corpus() if answer.model]


def load_one_reader() -> list[Answer]:
    """Return the answers that one person read: Gemma 3 with a template that it can continue, see PROVENANCE.md."""
    return read_file(CORPUS / "one_reader/gemma3_choice.jsonl", "choice")


def count_agreements(tally: Tally) -> int:
    """Return the number of answers that are read, or left unread, as people do."""
    return tally.answers - len(tally.misread)


def write_agreement(answers: Sequence[Answer]) -> str:
    """Return a table by model and benchmark, and a row for all answers."""
    tallies = measure(answers, lambda answer: f"{answer.model}, {answer.benchmark}")
    tallies |= measure(answers, lambda _: "all")
    lines = [
        "| model and benchmark | answers | clear to people | read | agreement |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, tally in tallies.items():
        agreements = count_agreements(tally)
        low, high = wilson(agreements, tally.answers)
        share = f"{agreements / tally.answers:.3f} ({low:.3f} to {high:.3f})"
        lines.append(f"| {name} | {tally.answers} | {tally.clear} | {tally.read} | {share} |")
    return "\n".join(lines)


def list_disagreements(answers: Sequence[Answer]) -> list[tuple[Answer, str]]:
    """Return the answers that are not read as people do, each with the reader's value."""
    (tally,) = measure(answers, lambda _: "all").values()
    return tally.misread


def list_invented(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers that are read although people find that they state nothing."""
    return [answer for answer in answers if answer.gold == UNREAD and read(answer) != UNREAD]


def main() -> None:
    """Print the agreement and the disagreements."""
    _print_agreement(load_small_models())
    print("\nRead by one person:\n")
    _print_agreement(load_one_reader())


def _print_agreement(answers: Sequence[Answer]) -> None:
    print(write_agreement(answers))
    unclear = sum(answer.gold == UNREAD for answer in answers)
    print(f"\n{len(list_invented(answers))} of {unclear} answers that state nothing were read.")
    for answer, value in list_disagreements(answers):
        print(f"\n{answer.number} ({answer.model}, {answer.benchmark}): {answer.answer!r}")
        print(f"people: {answer.gold}; reader: {value}")
        print(EXPLANATIONS.get(answer.number, "not explained"))


if __name__ == "__main__":
    main()
