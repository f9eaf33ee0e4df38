"""The list of bad inputs is numbered A 1 to H 118: every number is a test, and the page in the documents says which."""

import ast

import pytest

from tests.protocol.bad_inputs import (
    BAD_INPUTS,
    NOT_TRIED,
    PAGE,
    ROOT,
    WITH_A_STORE,
    collect_tests,
    find_tests,
    render_page,
)

RANGES = {
    "A": (1, 22),
    "B": (23, 38),
    "C": (39, 53),
    "D": (54, 71),
    "E": (72, 87),
    "F": (88, 102),
    "G": (103, 113),
    "H": (114, 118),
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return find_tests(collect_tests())


def test_the_list_has_every_number():
    numbers = [
        f"{letter}{number}"
        for letter, (first, last) in RANGES.items()
        for number in range(first, last + 1)
    ]
    assert list(BAD_INPUTS) == numbers


@pytest.mark.full
def test_every_bad_input_is_tried_or_the_reason_is_given(found: dict[str, list[str]]):
    assert {number for number, tests in found.items() if not tests} == set(NOT_TRIED)


@pytest.mark.full
def test_every_bad_input_but_the_clients_is_tried_at_the_centre_too(found: dict[str, list[str]]):
    """Those of G reach a site; all others reach a server with a store, on SQLite and on PostgreSQL."""
    at_the_centre = {
        number
        for number, tests in found.items()
        if any("tests/aggregator/" in test for test in tests)
    }
    assert {number for number in BAD_INPUTS if number[0] != "G"} - at_the_centre == set(NOT_TRIED)


@pytest.mark.full
def test_the_page_names_the_tests_that_there_are(found: dict[str, list[str]]):
    assert PAGE.read_text("utf-8") == render_page(found), "run: python -m tests.protocol.bad_inputs"


@pytest.mark.full
@pytest.mark.parametrize("test", [test for tests in WITH_A_STORE.values() for test in tests])
def test_the_tests_of_both_sides_are_where_the_page_says(test: str):
    path, _, name = test.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
