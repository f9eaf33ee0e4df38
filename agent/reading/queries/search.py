"""List the queries of an answer: those in code fences, backticks and elements, and those in its sentences."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace

from agent.reading.queries.query import Query, fold
from agent.reading.queries.rules import ABSTENTION
from agent.reading.queries.statements import (
    COMMENT,
    FROM,
    START,
    drop_words_after,
    find_start,
    find_statement_end,
    is_cut_off,
    is_query,
    match_next_start,
)

_MAX_QUERIES = 50
FENCE = re.compile(
    r"```[ \t]*(?:\w{1,20}(?=[ \t]*\n)|sqlite|sql)?[ \t]*\n?(.*?)(?:```|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BACKTICKS = re.compile(r"(?<!`)`(?!`)([^`\n]{6,8000})`(?!`)")
_STRUCK = re.compile(r"(?<!~)~~(?!~)[^~\n]{1,8000}~~(?!~)")
_ELEMENT_MARK = re.compile(
    r"</?\s?(?:sql|query|sql_query|answer|final_answer|code|pre|output|response|result|p|html|body|div|span|br"
    r"|b|strong|h\d|li|ul)\b[^<>\n]{0,100}>",
    re.IGNORECASE,
)
PROMPT_MARK = re.compile(
    r"\s*(?:sqlite>|mysql>|sql>|sql\s*:|sqlite\s*:|sql\s*\n|(?:sql\s)?query\s*:|answer\s*:|\$\s)\s*",
    re.IGNORECASE,
)
_LINE_COMMENTS = re.compile(
    r"(?:[ \t]*(?<!-)--(?!-)[^\n]*\n\s*|[ \t]*/\*(?:[^*]|\*(?!/)){0,5000}\*/\s*)+\Z"
)
# What a comment after a statement holds is not run, even if it is another query.
_COMMENTS_AFTER = re.compile(r"(?:\s*--(?!-)[^\n]*|\s*/\*.*?(?:\*/|\Z))+", re.DOTALL)
_BETWEEN_STATEMENTS = re.compile(r"(?:(?<=;)\s*|\n\s*)(?=select\b)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp);")


def list_queries(answer: str) -> list[Query]:
    """Return the queries of an answer, in order of appearance; those in code, if there are any."""
    text = _STRUCK.sub(_blank, answer) if "~~" in answer else answer
    in_code: list[Query] = []
    for pattern in (FENCE, _BACKTICKS):
        if "`" not in text:
            break
        for match in pattern.finditer(text):
            in_code += _list_in_code(answer, *match.span(1), is_closed=match.end() > match.end(1))
        text = pattern.sub(_blank, text)
        if any(_is_whole(query) for query in in_code):
            return _drop_fragments(in_code)
    text = _drop_markup(text)
    in_text = list(_iter_statements(text, 0, len(text), "query in text", is_closed=False))
    queries = _drop_fragments([*in_code, *in_text])
    if not in_code and len(queries) == 1 and _is_whole_answer(queries[0], answer):
        return [replace(queries[0], rule="whole answer")]
    return queries


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _drop_markup(text: str) -> str:
    """Return a text of the same length with the characters of its entities and without its elements."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]).rjust(len(match[0])), text)
    if "<" in text:
        text = _ELEMENT_MARK.sub(lambda match: "\n\n" + " " * (len(match[0]) - 2), text)
    return text


def _is_whole(query: Query) -> bool:
    """Return whether a query is no fragment such as "SELECT COUNT(*)": it reads a table, or abstains."""
    return not query.text or FROM.search(query.text) is not None


def _is_whole_answer(query: Query, answer: str) -> bool:
    """Return whether an answer is nothing but the query and perhaps a closing mark."""
    whole = answer.strip()
    return whole.startswith(query.text[:50]) and len(whole) - len(query.text) < 3


def _drop_fragments(queries: list[Query]) -> list[Query]:
    """Return the queries without the parts that an explanation names: "SELECT COUNT(*)", a subquery of another one."""
    queries = queries[-_MAX_QUERIES:]
    whole = [query for query in queries if _is_whole(query)] or queries
    folded = [fold(query.text) for query in whole]
    kept = [
        query
        for query, text in zip(whole, folded, strict=True)
        if not any(text != other and f"({text})" in other for other in folded)
    ]
    return sorted(kept or whole, key=lambda query: query.start)


def _list_in_code(answer: str, start: int, end: int, *, is_closed: bool) -> list[Query]:
    """Return the query that a piece of code is, or the queries in the strings of a program."""
    while mark := PROMPT_MARK.match(answer, start, end):
        start = mark.end()
    text = answer[start:end]
    stripped = text.strip()
    if not stripped:
        return []
    begin = start + text.index(stripped)
    if not (stripped.startswith(("--", "/*", "(")) or START.match(stripped)):
        return list(_iter_statements(answer, start, end, "code", is_closed=is_closed))
    if not COMMENT.sub("", stripped).strip(" \t\n;"):
        holds_query = START.search(stripped) is not None
        return [] if holds_query else [Query("", begin, begin + len(stripped), ABSTENTION)]
    if not is_query(stripped) or (is_cut_off(stripped) and not is_closed):
        return []
    query = drop_words_after(stripped)
    return [Query(query, begin, begin + len(query), "code")]


def _iter_statements(
    text: str, start: int, end: int, rule: str, *, is_closed: bool
) -> Iterator[Query]:
    """Yield the queries in a part of a text; statements that follow each other directly are one query."""
    position = start
    for _ in range(_MAX_QUERIES):
        match = find_start(text, position, end)
        if match is None:
            return
        begin = match.start() + len(match[0]) - len(match[0].lstrip())
        stop = find_statement_end(text, begin, end)
        # A second statement makes a query invalid, and is kept for that reason.
        while following := match_next_start(text, stop, end):
            stop = find_statement_end(text, following, end)
        query = text[begin:stop].rstrip()
        position = max(stop, match.end())
        comments_after = _COMMENTS_AFTER.match(text, position, end) if query[-1:] == ";" else None
        position = comments_after.end() if comments_after else position
        if not is_query(query):
            position = match.end()
            continue
        comments = _LINE_COMMENTS.search(text, max(start, begin - 2000), begin)
        if comments and text[: comments.start()].rstrip(" \t").endswith(("\n", "")):
            begin = comments.start() + len(comments[0]) - len(comments[0].lstrip())
            query = text[begin:stop].rstrip()
        if not query.endswith(";"):
            query = _strip_end(query)
        query = _drop_repetitions(query)
        is_at_end = not text[stop:end].strip() and not is_closed
        if is_at_end and is_cut_off(query):
            continue
        yield Query(query, begin, begin + len(query), rule)


def _drop_repetitions(query: str) -> str:
    """Return the first of several statements if the others only repeat it, or else the whole query.

    The last one may break off, where a model that repeats itself reached its limit of tokens.
    """
    if query.lower().count("select") < 2:
        return query
    statements = _BETWEEN_STATEMENTS.split(query)
    first, *others = map(fold, statements)
    if not others or not first.startswith(others[-1]):
        return query
    return statements[0] if all(other == first for other in others[:-1]) else query


def _strip_end(query: str) -> str:
    """Return a query without the marks around it; a quotation mark that ends a name or text belongs to it."""
    stripped = query.rstrip(' .,`*_|"}$')
    mark = query[len(stripped) : len(stripped) + 1]
    return stripped + mark if mark in ('"', "`") and stripped.count(mark) % 2 else stripped
