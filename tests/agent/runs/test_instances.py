"""A run's instances stay out of memory where they are many, and are the same however they are walked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.datasets.sampling import sample
from agent.errors import BenchmarkError
from agent.runs import instances as module
from agent.runs.instances import Instances
from agent.vocabulary import Instance, Message, Reference
from tests.memory import run_measured


def made(count: int, length: int = 100) -> Iterator[Instance]:
    for number in range(count):
        text = f"{number} ".ljust(length, "x")
        yield Instance(
            f"i{number}", f"p{number}", (Message("user", text),), (Reference("a", correct=True),)
        )


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize(("limit", "seed"), [(None, 0), (7, 0), (7, 3), (40, 0), (99, 0)])
def test_few_or_many_the_same_instances_are_taken_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch, held: bool, limit: int | None, seed: int
):
    monkeypatch.setattr(module, "HELD_CHARACTERS", 10**9 if held else 0)
    found = Instances(lambda: made(40), limit, seed)
    expected = [instance.id for instance in sample(list(made(40)), limit, seed)]
    for _ in range(2):
        assert [instance.id for instance in found] == expected
    assert (len(found), found.available) == (len(expected), 40)


def test_a_dataset_that_changed_between_two_walks_is_noticed_by_its_reader(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "HELD_CHARACTERS", 0)
    changed = False

    def read() -> Iterator[Instance]:
        yield from made(5)
        if changed:
            raise BenchmarkError("dataset.csv: changed since the run began; start again")

    found = Instances(read)
    changed = True
    with pytest.raises(BenchmarkError, match="changed"):
        list(found)


def test_writing_a_run_of_many_long_notes_takes_no_memory_for_them(tmp_path: Path):
    """6,000 notes of 4,000 characters are 24 MB, of which 2 may be held."""
    script = (
        "import sys; from pathlib import Path; from agent.store import RunDetails, Store, Vault\n"
        "from agent.runs import instances; from tests.agent.runs.test_instances import made\n"
        "instances.HELD_CHARACTERS = 2_000_000\n"
        "store = Store(Path(sys.argv[1]), Vault(bytes(32)), bytes(32))\n"
        "before = peak()\n"
        "found = instances.Instances(lambda: made(6_000, 4_000))\n"
        "store.runs.begin(suite='s', name='n', benchmark='b', lineage='l', model='m', deployment='d',\n"
        "    details=RunDetails(), planned=((one, one.id.encode().ljust(32)) for one in found), scored_by=[])\n"
        "assert sum(1 for _ in store.answers.read_each_instance(store.identities.run_id('s', 'n'))) == 6_000\n"
        "print(peak() - before)\n"
    )
    grown = int(run_measured(script, tmp_path / "x" / "s.sqlite3"))
    assert grown < 20, grown


@pytest.mark.parametrize(
    ("units", "numbered"),
    [
        (["1", "2", "5"], True),
        (["homelessness/1", "homelessness/2"], True),
        (["1", "1"], False),
        (["2", "1"], False),
        (["MRN1", "MRN2"], False),
    ],
)
def test_numbers_of_rows_are_told_from_names_of_patients(units: list[str], numbered: bool):
    of_unit = [Instance(str(n), unit, (Message("user", "q"),), ()) for n, unit in enumerate(units)]
    assert Instances(lambda: of_unit).numbered is numbered
