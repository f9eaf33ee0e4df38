"""Arguments that a run entry passes to a benchmark."""

import pytest

from agent.catalog.arguments import Argument, fill_arguments
from agent.catalog.benchmark import load_benchmark
from agent.errors import ConfigError
from tests.agent.catalog.definitions import GOOD, definition


def test_a_list_of_arguments_takes_any_value_and_needs_none(tmp_path):
    benchmark = load_benchmark(definition(tmp_path, GOOD + "arguments: [one, two]\n"))
    assert benchmark.fill_arguments({"two": "x", "data_path": "y"}) == {"two": "x"}


DECLARED = {
    "condition": Argument(("fever", "cough"), required=True),
    "split": Argument(default="", column="split"),
    "length": Argument(default="1000", kind="tokens"),
    "free": Argument(),
}


def test_defaults_are_filled_in_and_what_names_files_or_has_no_value_is_left_out():
    filled = fill_arguments(
        "own", DECLARED, {"condition": "fever", "split": "None", "data_path": "/x"}
    )
    assert filled == {"condition": "fever", "split": "", "length": "1000"}


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        ({}, "own needs the argument condition: one of fever, cough"),
        (
            {"condition": "fevr"},
            "condition is 'fevr': expected one of fever, cough (did you mean 'fever'?)",
        ),
        ({"conditon": "fever"}, "own takes no argument 'conditon' (did you mean 'condition'?)"),
        (
            {"condition": "fever", "length": "0"},
            "length is '0': expected a whole number of tokens above 0",
        ),
        (
            {"condition": "fever", "length": "²"},
            "length is '²': expected a whole number of tokens above 0",
        ),
    ],
)
def test_arguments_that_a_benchmark_does_not_take(passed, said):
    with pytest.raises(ConfigError) as caught:
        fill_arguments("own", DECLARED, passed)
    assert said in str(caught.value)
