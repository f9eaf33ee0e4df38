"""What errors advise reaches a page as a page to go to: all advice of the package is read, none keeps a backtick."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

import agent
from agent.access.roles import Action, list_actions
from agent.cli.main import intramural
from agent.errors import ConfigError, DeliveryError, InferenceError
from agent.service.explanations import (
    MACHINE_ONLY,
    PLACES,
    REPLACED,
    explain,
    explain_clause,
    find_command,
)
from agent.service.frame import Frame
from agent.service.web.routes import PAGES
from agent.store import Account, Origin, Role

PACKAGE: Final = Path(agent.__file__).parent
ALL: Final = Frame(account="ada", actions=frozenset(Action))
_UNREAD: Final = ("cli", "notebook", "reading", "redaction/rules")
"""Folders whose texts reach no page: commands, the notebook, and patterns for answers and texts."""


def frame_of(role: Role) -> Frame:
    account = Account("0", "x", frozenset({role}), False, False, Origin.LOCAL, 0, None)
    return Frame(account="x", actions=list_actions(account))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """All texts of the package; to read them takes seconds."""
    return list(iter_texts())


@pytest.fixture
def advice(texts: list[str]) -> list[str]:
    return sorted({text for text in texts if "`intramural " in text})


def iter_texts() -> Iterator[str]:
    """Yield the texts with code in them that the package could show, with `X` for what is filled in."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.relative_to(PACKAGE).as_posix().startswith(_UNREAD):
            continue
        tree = ast.parse(file.read_text("utf-8"))
        nodes = list(ast.walk(tree))
        documented = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        inside = {
            id(part)
            for node in nodes
            if isinstance(node, ast.JoinedStr)
            for part in ast.walk(node)
            if part is not node
        }
        for node in nodes:
            if id(node) in documented | inside:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else "X" for p in node.values]
                yield "".join(map(str, parts))


def test_there_is_advice_to_read(advice: list[str]):
    assert len(advice) > 100


def test_every_command_of_an_error_is_a_page_or_is_said_to_be_for_the_machine(advice: list[str]):
    wrong: list[str] = []
    for text in advice:
        shown = explain(text, ALL)
        codes = re.findall(r"<code>(.*?)</code>", shown)
        commands = {find_command(code) for code in codes} - {None}
        is_told = not commands or "machine" in shown
        expected = set(PLACES) if "machine: <code>" in shown else MACHINE_ONLY | {"run"}
        if "`" in shown or not is_told or not commands <= expected | MACHINE_ONLY:
            wrong.append(f"{shown}: a page for it in PLACES, or MACHINE_ONLY?")
    assert wrong == []


def test_the_commands_exist_and_so_do_the_phrases(texts: list[str]):
    for command in (*PLACES, *MACHINE_ONLY):
        group: click.Command = intramural
        for word in command.split():
            assert isinstance(group, click.Group), command
            found = group.get_command(click.Context(group), word)
            assert found is not None, command
            group = found
    together = "\n".join(texts)
    assert [phrase for phrase in REPLACED if phrase not in together] == []


def test_places_are_pages_that_need_the_action_that_they_name():
    pages = {route.path: route.action for route in PAGES if route.method == "GET"}
    for command, place in PLACES.items():
        assert place.path in pages or place.path.startswith("/results/"), command
        for role in Role:
            if place.action in frame_of(role).actions and place.path in pages:
                needed = pages[place.path]
                assert needed in frame_of(role).actions, (command, role)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Run `intramural doctor`.",
            'Check everything on the page <a href="/health">Health</a>.',
        ),
        (
            "Fix it, then run `intramural submission prepare`. It replaces the other.",
            'Fix it, then prepare the results on the page <a href="/outbox/prepare">“Prepare results”</a>. '
            "It replaces the other.",
        ),
        (
            "run `intramural registry update` and `intramural submission send`.",
            'Fetch the newest registry on the page <a href="/federation">Federation</a> and send what is '
            'approved on the page <a href="/outbox">Outbox</a>.',
        ),
        (
            "Register it again with `intramural datasets register ward`.",
            'Register it again on the page <a href="/outbox/datasets">“Register a dataset”</a>.',
        ),
        (
            "`intramural accounts list` shows the names of all accounts.",
            'The page <a href="/accounts">Accounts</a> shows the names of all accounts.',
        ),
        (
            "Correct `ca_bundle` in site.yaml.",
            "Correct <code>ca_bundle</code> in site.yaml.",
        ),
        (
            "Run `intramural rescore --suite <b>` first.",
            "Run <code>intramural rescore --suite &lt;b&gt;</code> first. Somebody with access to the "
            "site’s machine runs this command there.",
        ),
        (
            "Queue it on the site's machine: `intramural run --queue`.",
            "Queue it on the site&#39;s machine: <code>intramural run --queue</code>.",
        ),
        ("site.yaml: wrong\nmore", "site.yaml: wrong<br>more."),
        (
            "move it elsewhere: `intramural submission send` then fetches it",
            'Move it elsewhere: sending on the page <a href="/outbox">Outbox</a> then fetches it.',
        ),
        ("no model is chosen. Choose one.", "No model is chosen. Choose one."),
        ("max_attempts must be a number", "max_attempts must be a number."),
        ("november: no results", "november: no results."),
    ],
)
def test_advice_reads_as_a_sentence_of_the_page(text: str, shown: str):
    assert explain(text, ALL) == shown


def test_an_error_comes_with_its_advice_and_one_full_stop():
    error = ConfigError("the name is taken.", "Choose another.")
    assert explain(error, ALL) == "The name is taken. Choose another."
    assert "<code>" not in explain(DeliveryError("it broke"), ALL)
    assert "start it again" in explain(InferenceError("it broke"), ALL)


def test_a_page_that_its_reader_may_not_open_is_named_without_a_link_and_with_who_may():
    shown = explain("Run `intramural doctor`.", frame_of(Role.VIEWER))
    assert shown == (
        "Check everything on the page Health (for data scientists and administrators)."
    )
    assert "/health" in explain("Run `intramural doctor`.", frame_of(Role.ADMINISTRATOR))


def test_where_the_reader_has_a_command_line_the_command_stays():
    assert explain("run `intramural doctor`", None) == "Run <code>intramural doctor</code>"
    assert explain_clause("as `doctor` says", None) == "as <code>doctor</code> says"
