"""Reading a whole dataset once, for a person: how much there is, what is right how often, and all that is wrong."""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Dataset, Known, iter_instances
from agent.datasets.manage.usable_gold import gold_check
from agent.errors import BenchmarkError
from agent.vocabulary import Instance

_MOST_GOLD = 1000  # different right answers that are counted each

Choice = Mapping[str, str]  # values of the arguments that a run entry must give


@dataclass(frozen=True, slots=True)
class Examined:
    """What a dataset holds.

    Attributes:
        known: "official" if every file is of the version the benchmark was written for.
        problems: what a person should know, in plain words.
        parts: how many instances for each choice of required arguments, as "subset=icliniq" -> 120; "" for none.
        letters: how often each option is the right one, by letter; empty where answers are not letters.
        gold: how often each text is a right answer; empty where there are very many. Texts of cases.
        first: the first instances.
        characters: of all prompts together, and of the longest.
    """

    known: Known
    problems: tuple[str, ...]
    parts: Mapping[str, int]
    letters: Mapping[str, int]
    gold: Mapping[str, int]
    first: tuple[Instance, ...]
    characters: int
    longest: int

    @property
    def instances(self) -> int:
        """How many in all."""
        return sum(self.parts.values())


def required_choices(benchmark: Benchmark) -> list[Choice]:
    """Return every choice of the arguments that a run entry must give; one empty choice if there are none."""
    required = {name: argument.values for name, argument in benchmark.arguments.items() if argument.required}
    return [dict(zip(required, values, strict=True)) for values in itertools.product(*required.values())]


def examine(
    benchmark: Benchmark, choices: list[Choice], locate: Callable[[Choice], Dataset], *, keep: int = 0
) -> Examined:
    """Make every instance, one choice after the other, and count; the first `keep` are kept.

    Raises:
        BenchmarkError: lists what is wrong with the files of all choices.
    """
    errors: list[str] = []
    known: set[Known] = set()
    problems: list[str] = []
    parts: dict[str, int] = {}
    letters: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    first: list[Instance] = []
    characters = longest = 0
    for choice in choices:
        count = 0
        try:
            dataset = locate(choice)
            known.add(dataset.known)
            problems += dataset.problems
            # A known version is as its publisher made it: what cannot be scored there is no fault of a person here.
            fault_of = None if dataset.known == "official" else gold_check(benchmark)
            for instance in iter_instances(benchmark, dataset, arguments=choice, fault_of=fault_of):
                count += 1
                if len(first) < keep:
                    first.append(instance)
                length = sum(len(message.content) for message in instance.messages)
                characters, longest = characters + length, max(longest, length)
                if instance.multiple_choice:
                    letters.update(chr(ord("A") + i) for i, one in enumerate(instance.references) if one.correct)
                elif len(gold) <= _MOST_GOLD:
                    gold.update(reference.text for reference in instance.references if reference.correct)
        except BenchmarkError as why:
            errors += str(why).splitlines()
        parts[",".join(f"{name}={value}" for name, value in choice.items())] = count
    if errors:
        raise BenchmarkError("\n".join(dict.fromkeys(errors)))
    return Examined(
        known=known.pop() if len(known) == 1 else "unknown",
        problems=tuple(dict.fromkeys(problems)),
        parts=parts,
        letters=dict(sorted(letters.items())),
        gold=gold if len(gold) <= _MOST_GOLD else {},
        first=tuple(first),
        characters=characters,
        longest=longest,
    )
