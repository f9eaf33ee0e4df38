"""Read the query, or the abstention, that a field of a JSON object states."""

import re
from collections.abc import Sequence

from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import JsonList, JsonMember, JsonNode, JsonScalar, find_members
from agent.reading.queries.abstentions import is_nothing
from agent.reading.queries.query import Query, fold
from agent.reading.queries.search import FENCE, PROMPT_MARK
from agent.reading.queries.statements import complete, drop_words_after, is_query

UNREAD = Query("", 0, 0, "")
_KEY = re.compile(
    r"(?:final[ _]?|generated[ _]?|corrected[ _]?)?(?:sql|sqlite|query|answer|statement|output"
    r"|result|response|code|completion)(?:[ _]?(?:sql|query|statement|code|string))?",
    re.IGNORECASE,
)
_KEY_END = re.compile(r"[\"'“”]\s*+:")
_NO_VALUE = re.compile(r"(?:null|none|false|n/a)\b", re.IGNORECASE)
_ANSWERABLE_KEY = re.compile(
    r"(?P<not>un)?answerable|is[ _]?(?P<not2>un|im)?(?:answerable|possible)|can[ _]be[ _]answered",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"(?:true|yes|(?P<no>false|no))\b", re.IGNORECASE)


def find_in_fields(answer: str) -> Query | None:
    """Return the query of a JSON object, UNREAD if its fields contradict each other, None if there is none."""
    if ":" not in answer or not ("{" in answer or _KEY_END.search(answer)):
        return None
    try:
        members = find_members(answer)
    except EndlessTextError:
        return UNREAD
    fields: list[tuple[str, Query]] = []
    for member in members:
        query = _read_field(member)
        if query is UNREAD:
            return UNREAD
        if query is not None:
            fields.append((member.key.lower(), query))
    denial = _find_denial(members)
    if denial is not None:
        return UNREAD if any(query.text for _, query in fields) else denial
    return _choose_field(fields) if fields else None


def _read_field(member: JsonMember) -> Query | None:
    """Return the query in the value of a field, or the abstention if it is null.

    The result is UNREAD if the value is cut off or a list of several, and None if the field holds something else.
    """
    if not member.is_quoted or not _KEY.fullmatch(member.key):
        return None
    value = member.value
    if isinstance(value, JsonList) and value.elements:
        if len(value.elements) > 1 and any(map(_is_query, value.elements)):
            return UNREAD  # several queries of which none is chosen, or the lines of one
        value = value.elements[0]
    if not isinstance(value, JsonScalar) or value.has_swallowed_member:
        return None
    if not value.quote:
        return _abstain_in(member, value) if _NO_VALUE.match(value.raw) else None
    text = value.text if value.is_closed else complete(value.text)
    if text is None:
        return UNREAD
    text = _strip_marks(text)
    if is_nothing(text):
        return _abstain_in(member, value)
    if not is_query(text):
        return None
    return Query(drop_words_after(text), value.outer_start, value.outer_end, "JSON field")


def _is_query(value: JsonNode) -> bool:
    return isinstance(value, JsonScalar) and is_query(_strip_marks(value.text))


def _abstain_in(member: JsonMember, value: JsonScalar) -> Query:
    """Return the abstention that a key with its value states."""
    return Query("", member.start - 1, value.outer_end, "JSON field")


def _find_denial(members: Sequence[JsonMember]) -> Query | None:
    """Return the first field that says whether the question can be answered, if it denies it."""
    for member in members:
        key = _ANSWERABLE_KEY.fullmatch(member.key)
        value = member.value
        if key is None or not isinstance(value, JsonScalar):
            continue
        reply = _YES_OR_NO.match(value.raw)
        if reply is None:
            continue
        asks_opposite = (key["not"] or key["not2"]) is not None
        if (reply["no"] is not None) == asks_opposite:
            return None
        start = member.start - 1 if member.is_quoted else member.start
        return Query("", start, value.start + reply.end(), "JSON field")
    return None


def _choose_field(fields: list[tuple[str, Query]]) -> Query:
    """Return the query of the field that is called final, else of the only one; UNREAD if they differ."""
    if len(fields) == 1:
        return fields[0][1]
    final = [query for key, query in fields if key.startswith(("final", "corrected"))]
    stated = [query for _, query in fields if query.text]
    chosen = final or stated or [query for _, query in fields]
    is_single = len({fold(query.text) for query in chosen}) == 1
    return chosen[-1] if is_single else UNREAD


def _strip_marks(text: str) -> str:
    text = text.strip()
    fence = FENCE.fullmatch(text)
    text = fence[1].strip() if fence else text
    mark = PROMPT_MARK.match(text)
    return text[mark.end() :].strip() if mark else text
