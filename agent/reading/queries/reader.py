"""Read the query of an answer: the fast entry for scoring, and the one that also shows the span."""

import re

from agent.reading.queries.abstentions import find_abstention
from agent.reading.queries.decision import choose_query, drop_queries_of_other_questions
from agent.reading.queries.fields import find_in_fields
from agent.reading.queries.query import Query
from agent.reading.queries.search import list_queries
from agent.reading.queries.statements import is_query
from agent.reading.reading import Reading

_MAX_LENGTH = 200_000  # characters; a longer answer is an endless repetition
# An answer of one line with a single statement, as most are.
_WHOLE = re.compile(r"\s*select\s[^;`\n\"]+;\s*", re.IGNORECASE)
_SENTENCE_WORD = re.compile(
    r"\s(?:which|that|because|since|whereas|please|returns|could|might)\s|\sis\sthe\s|:\s|--",
    re.IGNORECASE,
)


def find_query(answer: str) -> str | None:
    """Return the query in an answer, "" if the answer abstains, None if it is unread."""
    query = _find(answer)
    return None if query is None else query.text


def read_query(answer: str) -> Reading | None:
    """Return the query of `find_query` and where the answer states it; the value is "" if the answer abstains."""
    query = _find(answer)
    return None if query is None else Reading(query.text, query.start, query.end, query.rule)


def _find(answer: str) -> Query | None:
    if len(answer) > _MAX_LENGTH:
        answer = answer[:_MAX_LENGTH]
    if _WHOLE.fullmatch(answer) and not _SENTENCE_WORD.search(answer) and is_query(answer):
        start = len(answer) - len(answer.lstrip())
        query = answer.strip()
        return Query(query, start, start + len(query), "whole answer")
    fields = find_in_fields(answer)
    if fields is not None:
        return fields if fields.rule else None
    queries = list_queries(answer)
    if not queries:
        return find_abstention(answer)
    return choose_query(answer, drop_queries_of_other_questions(answer, queries))
