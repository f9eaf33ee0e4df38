"""Read a whole dataset and report its size, the frequency of each right answer and its problems."""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Dataset, Known, iter_instances
from agent.datasets.manage.usable_gold import build_gold_check
from agent.datasets.references import LETTERS
from agent.errors import BenchmarkError
from agent.vocabulary import Instance

_MAX_GOLD = 1000  # distinct right answers; if there are more, none are reported

Choice = Mapping[str, str]  # a value for each argument that a run entry must give


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """Counts of a dataset's contents.

    Attributes:
        known: "official" if every file belongs to a version listed in the benchmark's definition.
        problems: messages about the files, for display.
        parts: the number of instances for each choice of required arguments, such as "subset=icliniq" -> 120; the
            key is "" if there are no required arguments.
        letters: how often each option is right, by letter; empty unless the benchmark is multiple choice.
        gold: how often each text is a right answer; empty if there are too many distinct texts. May contain
            patient data.
        first: the first instances.
        characters: the number of characters in all prompts together.
        longest: the number of characters in the longest prompt.
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
        """The number of instances in all parts."""
        return sum(self.parts.values())


def required_choices(benchmark: Benchmark) -> list[Choice]:
    """Return every combination of values of the required arguments; one empty combination if there are none."""
    required = {
        name: argument.values for name, argument in benchmark.arguments.items() if argument.required
    }
    return [
        dict(zip(required, values, strict=True)) for values in itertools.product(*required.values())
    ]


def examine(
    benchmark: Benchmark,
    choices: list[Choice],
    locate: Callable[[Choice], Dataset],
    *,
    keep: int = 0,
) -> DatasetContents:
    """Read and count every instance for each of `choices`, and keep the first `keep` instances.

    Raises:
        BenchmarkError: the files have problems, which are listed for all choices.
    """
    errors: list[str] = []
    known: set[Known] = set()
    problems: list[str] = []
    parts: dict[str, int] = {}
    tally = _Tally(keep)
    for choice in choices:
        counted_before = tally.instances
        try:
            dataset = locate(choice)
            known.add(dataset.known)
            problems += dataset.problems
            # If a right answer in a known version cannot be scored, the mistake is the publisher's, not the user's.
            fault_of = None if dataset.known == "official" else build_gold_check(benchmark)
            for instance in iter_instances(benchmark, dataset, arguments=choice, fault_of=fault_of):
                tally.add(instance)
        except BenchmarkError as why:
            errors += str(why).splitlines()
        part = ",".join(f"{name}={value}" for name, value in choice.items())
        parts[part] = tally.instances - counted_before
    if errors:
        raise BenchmarkError("\n".join(dict.fromkeys(errors)))
    return DatasetContents(
        known=known.pop() if len(known) == 1 else "unknown",
        problems=tuple(dict.fromkeys(problems)),
        parts=parts,
        letters=dict(sorted(tally.letters.items())),
        gold=tally.gold if len(tally.gold) <= _MAX_GOLD else {},
        first=tuple(tally.first),
        characters=tally.characters,
        longest=tally.longest,
    )


@dataclass(slots=True)
class _Tally:
    """Counts instances, their characters and their right answers."""

    keep: int
    instances: int = 0
    characters: int = 0
    longest: int = 0
    letters: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    first: list[Instance] = field(default_factory=list)

    def add(self, instance: Instance) -> None:
        self.instances += 1
        if len(self.first) < self.keep:
            self.first.append(instance)
        length = sum(len(message.content) for message in instance.messages)
        self.characters += length
        self.longest = max(self.longest, length)
        if instance.multiple_choice:
            self._count_letters(instance)
        elif len(self.gold) <= _MAX_GOLD:
            self._count_texts(instance)

    def _count_letters(self, instance: Instance) -> None:
        for letter, reference in zip(LETTERS, instance.references, strict=False):
            if reference.correct:
                self.letters[letter] += 1

    def _count_texts(self, instance: Instance) -> None:
        for reference in instance.references:
            if reference.correct:
                self.gold[reference.text] += 1
