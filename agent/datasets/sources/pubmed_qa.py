"""PubMedQA's official file: a JSON object that maps each PMID to a question, labelled sections and a decision."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TextIO

from agent.datasets.readers.json_table import format_json_value, load_json
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("pmid", "question", "context", "final_decision", "long_answer", "split")
_TEST_IDS = Path(__file__).parent / "pubmed_qa_test_ids.txt"


def read_pubmed_qa(file: TextIO, problems: Problems) -> Table:
    """Read `ori_pqal.json`. `context` has one line "Label. Text" per section, as in MedHELM.

    `split` is "test" for the 500 questions of the official test set, and empty for the other 500.
    """
    articles = load_json(file, problems)
    if not isinstance(articles, dict):
        raise problems.stop("the whole file", "expected an object that maps PMIDs to articles")
    return Table(COLUMNS, _read_articles(articles, problems))


@cache
def read_test_ids() -> frozenset[str]:
    """Return the PubMed ids of the official test set."""
    lines = _TEST_IDS.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def _read_articles(articles: dict[str, object], problems: Problems) -> Iterator[Row]:
    test_ids = read_test_ids()
    for number, (pmid, article) in enumerate(articles.items(), 1):
        where = f"article {number}"
        if not isinstance(article, dict):
            problems.add(where, "expected an object")
            continue
        labels, texts = article.get("LABELS"), article.get("CONTEXTS")
        if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
            problems.add(where, "LABELS and CONTEXTS are not two lists of the same length")
            continue
        sections = []
        for label, text in zip(labels, texts, strict=True):
            sections.append(f"{format_json_value(label).title()}. {format_json_value(text)}")
        cells = {
            "pmid": pmid,
            "question": format_json_value(article.get("QUESTION")),
            "context": "\n".join(sections),
            "final_decision": format_json_value(article.get("final_decision")),
            "long_answer": format_json_value(article.get("LONG_ANSWER")),
            "split": "test" if pmid in test_ids else "",
        }
        yield Row(where, cells)
