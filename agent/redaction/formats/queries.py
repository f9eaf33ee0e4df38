"""Cells of database queries (SQL): their keywords, functions, tables and columns identify nobody.

Literals are searched like any other text, apart from formats and intervals of time. One that is compared with a column
of identifiers is taken for such a one (`last_name = 'Rose'`). A text without the grammar of a query is searched as
prose ("select one from Smith where she lives").
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import regex

from agent.redaction.formats.cells import FREE, KEEP, Cell, DecodedText, Quoting
from agent.redaction.formats.labels import find_meaning, is_identifying_label, read_cue
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.word_lists import read_words

_BEGINNING = regex.compile(
    r"(?i)(?P<label>(?<=```)sql\s{1,4})?(?<![\w.])(?P<query>(?:select|with)(?=[\s(]))"
)
_TOKEN = regex.compile(
    r"\s+|(?P<literal>'(?:[^'\n]|''){0,300}+'|\"[^\"\n]{0,300}\"|\d[\d.]*+(?!\w))"
    r"|(?P<name>[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*+)(?![\p{L}-])|(?P<comment>--|/\*)|(?P<sign>[()*,;=<>!+/%|.-])"
)
# '%y-%m', 'start of month', '-70 month'
_TIME = regex.compile(
    r"(?i)['\"](?:%[a-z](?:[-/: ]%[a-z]){0,5}|(?:[+-]?\d{1,4} |start of )(?:day|month|year|hour|minute|second)s?)['\"]"
)
_DOUBLED_QUOTE = re.compile("''")
# Between a column and the literals with which it is compared, beside other literals.
_COMPARING = frozenset({"=", "<", ">", "!", "(", ",", "%", "like", "in", "not", "between"})
_DIGITS = frozenset("0123456789")
_TABLE_FOLLOWS = frozenset({"from", "join"})
_ALIAS = regex.compile(r"[a-z]{1,2}\d{1,2}")


class _Token(NamedTuple):
    """A word, literal or sign of a query; `kind` is the group of `_TOKEN`, or "keyword"."""

    kind: str
    text: str
    start: int
    end: int


class _Stretch(NamedTuple):
    """Code, or the inside of a literal and the column of identifiers with which it is compared."""

    start: int
    end: int
    column: str = ""


def read_queries(text: DecodedText, quoting: Quoting) -> Iterator[Cell] | None:
    """Return the code of the queries in a text, which is kept, and the text between it; None without a query."""
    stretches = list(_find_stretches(text.text))
    return _read_cells(text, stretches, quoting) if stretches else None


def _read_cells(text: DecodedText, stretches: list[_Stretch], quoting: Quoting) -> Iterator[Cell]:
    end_of_last = 0
    for start, end, column in stretches:
        if end_of_last < start:
            yield Cell(text.cut(end_of_last, start), "", FREE, quoting)
        if column:
            yield _read_literal(text.cut(start, end), column, quoting)
        else:
            yield Cell(text.cut(start, end), "", KEEP, quoting)
        end_of_last = end
    if end_of_last < len(text.text):
        yield Cell(text.cut(end_of_last, len(text.text)), "", FREE, quoting)


def _read_literal(literal: DecodedText, column: str, quoting: Quoting) -> Cell:
    value = literal.decode(_DOUBLED_QUOTE, lambda _: "'")
    return Cell(value, read_cue((column,)), find_meaning((column,), (), value.text), quoting)


def _find_stretches(text: str) -> Iterator[_Stretch]:
    """Yield the code and the identifying literals of the queries in a text. Takes time linear in its length."""
    lower = text.lower()
    if "select" not in lower or "from" not in lower:
        return
    end = 0
    for beginning in _BEGINNING.finditer(text):
        if beginning.start() < end:
            continue
        tokens = _read_tokens(text, beginning.start("query"))
        end = tokens[-1].end
        if _is_query(tokens):
            if beginning["label"]:
                yield _Stretch(*beginning.span("label"))
            stretches = [
                *_list_code(tokens, frozenset(_list_tables(tokens))),
                *_list_identifying_literals(tokens),
            ]
            yield from sorted(stretches)


def _read_tokens(text: str, start: int) -> list[_Token]:
    """Read the tokens of a query up to a comment, or up to text that belongs to no query."""
    keywords = read_words("en", "query_words")
    tokens: list[_Token] = []
    position = start
    while match := _TOKEN.match(text, position):
        position = match.end()
        kind = match.lastgroup
        if kind == "comment":
            break
        if kind is None:
            continue
        if kind == "name" and match.group().lower() in keywords:
            kind = "keyword"
        tokens.append(_Token(kind, match.group(), *match.span()))
        if len(tokens) > 1 and not _may_follow(*tokens[-2:]):
            break
    return tokens


def _may_follow(before: _Token, token: _Token) -> bool:
    """Return whether a token may follow another in a query: a name follows no name or literal, unless it is short."""
    if token.kind != "name" or before.kind not in ("name", "literal"):
        return True
    return _ALIAS.fullmatch(token.text) is not None


def _is_query(tokens: list[_Token]) -> bool:
    """Return whether all tokens may follow each other, and an operator or bracket is among them."""
    texts = {token.text.lower() for token in tokens}
    has_signs = "from" in texts and not texts.isdisjoint("=<>(*")
    return has_signs and _may_follow(*tokens[-2:])


def _list_tables(tokens: list[_Token]) -> Iterator[str]:
    """Yield the names of tables that also qualify a column, and the short names that the query gives them."""
    qualifiers: set[str] = set()
    for token in tokens:
        table, dot, _ = token.text.partition(".")
        if token.kind == "name" and dot:
            qualifiers.add(table)
    for before, token in pairwise(tokens):
        is_table = token.kind == "name" and before.text.lower() in _TABLE_FOLLOWS
        if is_table and token.text in qualifiers and not _holds_name(token.text):
            yield token.text
    for qualifier in qualifiers:
        if _ALIAS.fullmatch(qualifier):
            yield qualifier


def _list_identifying_literals(tokens: list[_Token]) -> Iterator[_Stretch]:
    """Yield the insides of the literals that are compared with a column of identifiers."""
    column = ""
    for token in tokens:
        if token.kind == "name":
            column = token.text.rpartition(".")[2]
        elif token.kind == "literal" and column and is_identifying_label(column):
            quotes = 1 if token.text[0] in "'\"" else 0
            if token.end - token.start > 2 * quotes:
                yield _Stretch(token.start + quotes, token.end - quotes, column)
        elif token.kind != "literal" and token.text.lower() not in _COMPARING:
            column = ""


def _list_code(tokens: list[_Token], tables: frozenset[str]) -> Iterator[_Stretch]:
    """Yield the stretches of tokens that are code; a number or literal ends a stretch, as does a possible name."""
    start = end = -1
    for token in tokens:
        if not _is_code(token, tables):
            if start >= 0:
                yield _Stretch(start, end)
            start = -1
            continue
        start = token.start if start < 0 else start
        end = token.end
    if start >= 0:
        yield _Stretch(start, end)


def _is_code(token: _Token, tables: frozenset[str]) -> bool:
    if token.kind == "literal":
        return token.text in _DIGITS or _TIME.fullmatch(token.text) is not None
    if token.kind != "name":
        return True
    table, _, column = token.text.rpartition(".")
    if table or column in tables:
        return (table or column) in tables and not _holds_name(column)
    return _ALIAS.fullmatch(column) is not None or all(map(_is_plain, column.split("_")))


def _holds_name(name: str) -> bool:
    """Return whether a part of a name in code is a name of a person."""
    return any(map(_is_name, name.lower().split("_")))


def _is_name(part: str) -> bool:
    return part in words("given_names") or part in words("surnames")


def _is_plain(part: str) -> bool:
    """Return whether a part of a name in code is an ordinary word and no name of a person."""
    lower = part.lower()
    return not _is_name(lower) and (not part or part.isdigit() or is_safe(lower))
