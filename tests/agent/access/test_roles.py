"""The table of roles and actions, cell by cell, and that nobody approves a submission in which they had a part."""

import re
from itertools import chain, combinations
from pathlib import Path

import pytest

from agent.access.roles import (
    ALLOWED,
    Action,
    ApprovalFault,
    Party,
    find_approval_fault,
    list_actions,
    may,
    may_approve,
)
from agent.store.stored_accounts import Role
from tests.agent.access.people import person

ANNA, BORIS = "a" * 16, "b" * 16

# One line an action; columns: viewer, data scientist, steward, administrator. y: all, o: own only, -: never.
TABLE = """
manage_own_account   y y y y
view_boards          y y y y
view_runs            y y y y
view_instances       y y y -
reveal               - - - -
rate_answers         y y - -
view_data            y y y y
add_data             - y - -
view_models          y y y y
probe_models         - y - y
view_jobs            y y y y
queue_jobs           - y - -
change_jobs          - o - y
view_private_runs    - o - -
delete_runs          - o - y
export_tables        - y - -
prepare_submissions  - y - -
view_outbox          - o y -
approve_submissions  - - y -
send_submissions     - y y -
view_receipts        - y y y
review_redaction     - - y -
view_metrics         y y y y
view_health          - y - y
change_settings      - - - y
manage_keys          - - - y
manage_accounts      - - - y
view_audit           - - - y
"""
CELLS = [
    (Action(action), role, cell)
    for action, *cells in (line.split() for line in TABLE.split("\n") if line)
    for role, cell in zip(Role, cells, strict=True)
]


PAGE = Path(__file__).parents[3] / "docs" / "service.md"
MARKS = {"yes": "y", "own": "o", "": "-", "granted": "-"}


def test_the_table_in_the_documents_is_this_one():
    lines = re.findall(r"^\| `(\w+)`: [^|]+\|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    documented = [
        (action, role, MARKS[cell.strip()])
        for action, cells in lines
        for role, cell in zip(Role, cells.split("|"), strict=True)
    ]
    assert documented == CELLS


def test_every_action_has_a_line_in_this_table():
    assert {action for action, _, _ in CELLS} == set(Action)
    assert set(ALLOWED) == set(Role)


@pytest.mark.parametrize(("action", "role", "cell"), CELLS)
def test_a_role_does_what_its_cell_says_and_no_more(action: Action, role: Role, cell: str):
    anna = person(ANNA, role)
    assert may(anna, action, owner=ANNA) is (cell in "yo")
    assert may(anna, action, owner=BORIS) is (cell == "y")
    assert may(anna, action) is (cell == "y")


@pytest.mark.parametrize("action", Action)
def test_an_account_without_roles_or_locked_may_do_nothing(action: Action):
    assert not may(person(ANNA, may_reveal=True), action, ANNA)
    assert not may(person(ANNA, *Role, may_reveal=True, locked=True), action, ANNA)


def test_several_roles_allow_what_one_of_them_allows_and_nothing_else():
    for roles in chain.from_iterable(combinations(Role, count) for count in range(5)):
        together = list_actions(person(ANNA, *roles))
        alone = [list_actions(person(ANNA, role)) for role in roles]
        assert together == frozenset().union(*alone)


def test_original_text_needs_a_grant_and_the_right_to_see_redacted_text():
    assert not may(person(ANNA, *Role), Action.REVEAL)
    assert may(person(ANNA, Role.VIEWER, may_reveal=True), Action.REVEAL)
    assert not may(person(ANNA, Role.ADMINISTRATOR, may_reveal=True), Action.REVEAL)


KEY, SITE_KEY, OTHER_KEY = frozenset({"key"}), frozenset({"site"}), frozenset({"other"})


def test_an_author_with_every_role_cannot_approve_with_whatever_key():
    author = Party(frozenset({ANNA, BORIS}), SITE_KEY)
    for key in (KEY, SITE_KEY, OTHER_KEY):
        assert not may_approve(person(ANNA, *Role, may_reveal=True), key, author)
    assert find_approval_fault(person(ANNA, *Role), KEY, author) == ApprovalFault.SAME_ACCOUNT


def test_a_second_account_of_an_author_is_known_by_its_key():
    author = Party(frozenset({ANNA}), SITE_KEY | KEY)
    assert find_approval_fault(person(BORIS, Role.STEWARD), KEY, author) == ApprovalFault.SAME_KEY
    assert (
        find_approval_fault(person(BORIS, Role.STEWARD), SITE_KEY | OTHER_KEY, author)
        == ApprovalFault.SAME_KEY
    )


def test_an_unsigned_approval_is_none():
    assert (
        find_approval_fault(person(BORIS, Role.STEWARD), frozenset(), Party())
        == ApprovalFault.NO_KEY
    )


def test_a_steward_approves_the_work_of_others_even_if_they_are_a_data_scientist_too():
    author = Party(frozenset({ANNA}), SITE_KEY)
    assert may_approve(person(BORIS, Role.STEWARD), KEY, author)
    assert may_approve(person(BORIS, Role.STEWARD, Role.DATA_SCIENTIST), KEY, author)
    assert not may_approve(person(BORIS, Role.DATA_SCIENTIST, Role.ADMINISTRATOR), KEY, author)
    assert not may_approve(person(BORIS, Role.STEWARD, locked=True), KEY, author)
