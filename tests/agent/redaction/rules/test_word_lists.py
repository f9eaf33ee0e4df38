"""The word lists of the rules: how patterns name them, and that each file is used, without an entry twice."""

from pathlib import Path

import pytest
import regex

from agent.redaction.rules import word_lists
from agent.redaction.rules.word_lists import compile_pattern, read_entries, write_lists

_RULES = Path(word_lists.__file__).parent
_LISTS = [(path.parent.parent.name, path.stem) for path in sorted(_RULES.glob("*/words/*.txt"))]
# Lists whose lines hold several words, some of them in other letters.
_OF_SEVERAL_WORDS_A_LINE = {
    "everyday_words",
    "function_words",
    "given_names",
    "medical_abbreviations",
    "medical_words",
    "surnames",
    "word_names",
}


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    words = tmp_path / "xx" / "words"
    words.mkdir(parents=True)
    monkeypatch.setattr(word_lists, "__file__", str(tmp_path / "word_lists.py"))
    return words


def test_list_in_a_pattern_is_read_in_the_order_of_its_file(lists: Path) -> None:
    lists.joinpath("streets.txt").write_text("# Streets\nSt.\n\nUnter den\nSt\n", encoding="utf-8")
    assert write_lists(r"\d \L<streets>", "xx") == r"\d (?:St\.|Unter den|St)"
    assert compile_pattern(r"(?i)\L<streets>\b", "xx").fullmatch("UNTER DEN")


def test_unknown_list_is_an_error(lists: Path) -> None:
    with pytest.raises(FileNotFoundError):
        compile_pattern(r"\L<towns>", "xx")


@pytest.mark.parametrize(("language", "name"), _LISTS)
def test_each_list_is_used(language: str, name: str) -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in _RULES.parent.rglob("*.py"))
    assert regex.search(rf'\\L<{name}>|"{name}"', sources)


@pytest.mark.parametrize(
    ("language", "name"), [pair for pair in _LISTS if pair[1] not in _OF_SEVERAL_WORDS_A_LINE]
)
def test_no_entry_stands_twice_in_a_list(language: str, name: str) -> None:
    entries = read_entries(language, name)
    assert len(entries) == len(set(entries)) > 0
