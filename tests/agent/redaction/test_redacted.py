"""`Redacted` comes from the redaction package and from nowhere else, in the source and at run time."""

import ast
import copy
import pickle
from pathlib import Path

import pytest

from agent.errors import RedactionError, StoreError
from agent.redaction import Redacted
from agent.redaction.redacted import mark_redacted, reveal_record

ROOT = Path(__file__).parents[3]
MAKERS = {
    "Redacted", "mark_redacted", "reveal_record", "show_published", "join_redacted", "_SEAL",
}  # fmt: skip


def makings(path: Path) -> list[str]:
    """Places in a module that could make `Redacted`: calls of its makers, imports of private ones, casts."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name in MAKERS or (name == "cast" and "Redacted" in ast.dump(node)):
                found.append(f"{path.name}:{node.lineno}")
        if isinstance(node, ast.ImportFrom) and {alias.name for alias in node.names} & (
            MAKERS - {"Redacted"}
        ):
            found.append(f"{path.name}:{node.lineno}")
        if isinstance(node, ast.ClassDef) and "Redacted" in {
            getattr(base, "id", "") for base in node.bases
        }:
            found.append(f"{path.name}:{node.lineno}")
    return found


def test_no_module_outside_the_package_makes_redacted_text():
    modules = [
        path
        for package in ("agent", "aggregator", "protocol")
        for path in (ROOT / package).rglob("*.py")
        if path.parent not in (ROOT / "agent/redaction", ROOT / "agent/redaction/gateway")
    ]
    assert len(modules) > 30
    assert [place for path in modules for place in makings(path)] == []


def test_the_search_would_see_a_making():
    assert makings(ROOT / "agent" / "redaction" / "redacted.py")
    assert makings(ROOT / "agent" / "redaction" / "engine.py")


def test_making_it_by_hand_is_refused():
    with pytest.raises(RedactionError):
        Redacted("Margaret Holloway", seal=object())
    with pytest.raises(TypeError):
        Redacted("Margaret Holloway")  # type: ignore[call-arg]


def test_pieces_of_redacted_text_are_plain_text_again():
    text = mark_redacted("[NAME-1] has gout")
    assert [type(piece) for piece in (text[1:], text + "!", text.upper(), f"{text}")] == [str] * 4


def test_copies_stay_redacted_and_pickles_are_refused():
    text = mark_redacted("[NAME-1]")
    assert copy.deepcopy(text) is text
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(text))


def test_revealing_writes_the_audit_entry_first():
    order: list[str] = []
    shown = reveal_record(["one", "two"], order.append, "view run=1")
    assert order == ["view run=1"]
    assert shown == ["one", "two"]
    assert all(isinstance(text, Redacted) for text in shown)


def test_nothing_is_revealed_when_the_audit_log_cannot_be_written():
    def full(event: str) -> None:
        raise StoreError("the audit log cannot be written")

    with pytest.raises(StoreError):
        reveal_record(["Margaret Holloway"], full, "view run=1")
