"""A query that an answer holds, or its abstention from one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """A query that an answer holds from `start` to `end`, or an abstention, whose text is empty."""

    text: str
    start: int
    end: int
    rule: str


def fold(query: str) -> str:
    """Return a query in the form in which equal queries are equal texts: white space, case and the end do not count."""
    return " ".join(query.lower().rstrip("; \n").split())
