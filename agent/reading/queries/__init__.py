"""Read the SQL query of an answer, or that the answer abstains from writing one. Pure; nothing is run.

A query can be the whole answer, or stand in a code fence, between backticks, in an element, in a JSON field, in a
string of a program or in a sentence. The steps, each in a module of its own:

1. `fields` reads the query in a field of a JSON object; if there is one, nothing else is read.
2. `search` lists the queries of the text, by the syntax of `statements`, which tells a query from "select the rows".
3. `decision` takes the last query, unless the text offers several as alternatives, rejects one, or calls one final.
4. `abstentions` is asked where no query is meant: null, or that the question cannot be answered with the tables.
"""

from agent.reading.queries.reader import find_query, read_query
from agent.reading.queries.rules import ABSTENTION, RULES

__all__ = ["ABSTENTION", "RULES", "find_query", "read_query"]
