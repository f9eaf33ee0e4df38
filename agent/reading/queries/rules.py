"""The rules by which an answer's query is read, with a description and an example each."""

ABSTENTION = "abstention"

RULES = {
    "whole answer": ("The answer is a query and nothing else.", "SELECT name FROM drug;"),
    "JSON field": (
        "A JSON field named sql, query, answer or the like holds the query, or null.",
        '{"sql": "SELECT name FROM drug;"}',
    ),
    "code": (
        "A code fence or backticks enclose the query.",
        "The query:\n```sql\nSELECT name FROM drug;\n```",
    ),
    "query in text": (
        "The query is part of the text.",
        "The SQL query is: SELECT name FROM drug; It lists all drugs.",
    ),
    ABSTENTION: (
        "The answer says null, or that the question cannot be answered with the tables.",
        "The question cannot be answered with the given tables.",
    ),
}
"""The rules by name, each with its meaning and an example."""
