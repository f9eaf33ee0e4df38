"""Benchmarks have one name, with the part that a run entry chose."""

from agent.results.benchmark_names import name_benchmark, name_part
from agent.store import Run, RunDetails


def run(entry: str, **arguments: str) -> Run:
    details = RunDetails(display_name="MedDialog", arguments=arguments)
    benchmark = entry.partition(":")[0]
    return Run("r", "s", entry, benchmark, "a/b", "d", details, "ended", 0, 0)


def test_the_part_that_the_entry_chose_is_in_the_name():
    chosen = run("med_dialog:subset=icliniq,model=a/b", subset="icliniq")
    assert name_benchmark([chosen]) == "MedDialog (icliniq)"


def test_defaults_and_arguments_of_the_model_are_not_in_the_name():
    plain = run("head_qa:model=a/b,temperature=0.5", language="en")
    assert name_part(plain) == ""
    assert name_benchmark([plain]) == "MedDialog"


def test_runs_on_several_parts_have_the_name_of_the_whole():
    parts = [run(f"med_dialog:subset={name},model=a/b", subset=name) for name in ("x", "y")]
    assert name_benchmark(parts) == "MedDialog"


def test_a_bare_number_stands_with_its_key():
    chosen = run("medalign:max_length=1000,model=a/b", max_length="1000")
    assert name_part(chosen) == "max length 1000"


def test_a_benchmark_without_a_display_name_is_called_by_its_id():
    nameless = Run("r", "s", "x:model=a/b", "x", "a/b", "d", RunDetails(), "ended", 0, 0)
    assert name_benchmark([nameless]) == "x"
