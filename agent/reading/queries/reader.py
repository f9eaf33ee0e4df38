"""Read the query of an answer: the fast entry for scoring, and the one that also shows the span."""

import re

from agent.reading.queries.abstentions import find_abstention
from agent.reading.queries.decision import (
    choose_query,
    drop_queries_of_other_questions,
    is_unclear,
)
from agent.reading.queries.fields import find_in_fields
from agent.reading.queries.query import Query
from agent.reading.queries.search import list_queries
from agent.reading.queries.statements import PROSE_WORD, is_cut_off, is_query
from agent.reading.reading import Reading

_MAX_LENGTH = 200_000  # characters; a longer answer is an endless repetition
# An answer with nothing but a single statement, as most are. Each line begins with a word of SQL.
_PLAIN = re.compile(
    r"\s*+(?P<fence>```(?:sql|sqlite)?[ \t]*+\n)?\s*+(?P<query>select\s[^;`\"\n]++(?:\n[ \t]*+(?:from|where|group\sby"
    r"|order\sby|limit|having|(?:left\s|inner\s)?join|and|on|union|intersect|except)\b[^;`\"\n]*+)*+(?:;|(?<=[\w)'])))"
    r"\s*+(?(fence)```\s*+)",
    re.IGNORECASE,
)
# Words of a sentence, comments, and text after a colon or full stop
_PROSE = re.compile(rf"\s{PROSE_WORD}|[:.]\s|--|/\*")


def find_query(answer: str) -> str | None:
    """Return the query in an answer, "" if the answer abstains, None if it is unread."""
    query = _find(answer)
    return None if query is None else query.text


def read_query(answer: str) -> Reading | None:
    """Return the query of `find_query` and where the answer states it; the value is "" if the answer abstains."""
    query = _find(answer)
    return None if query is None else Reading(query.text, query.start, query.end, query.rule)


def _find(answer: str) -> Query | None:
    query = _find_meant(answer)
    return None if query is None or is_unclear(query, answer) else query


def _find_meant(answer: str) -> Query | None:
    """Return the query that the words of an answer point at; it may still be several statements."""
    if len(answer) > _MAX_LENGTH:
        answer = answer[:_MAX_LENGTH]
    plain = _read_plain(answer)
    if plain is not None:
        return plain
    fields = find_in_fields(answer)
    if fields is not None:
        return fields if fields.rule else None
    queries = list_queries(answer)
    if not queries:
        return find_abstention(answer)
    return choose_query(answer, drop_queries_of_other_questions(answer, queries))


def _read_plain(answer: str) -> Query | None:
    """Return the query of an answer that is a single statement, perhaps in a fence, and certainly nothing else."""
    plain = _PLAIN.fullmatch(answer)
    if plain is None:
        return None
    query = plain["query"]
    if _PROSE.search(query) or is_cut_off(query) or not is_query(query):
        return None
    rule = "code" if plain["fence"] else "whole answer"
    return Query(query, plain.start("query"), plain.end("query"), rule)
