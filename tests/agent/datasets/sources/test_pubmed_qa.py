"""PubMedQA: an article's labelled sections, a line each."""

import io
import json

from agent.datasets.readers.table import Problems
from agent.datasets.sources.pubmed_qa import COLUMNS, read_pubmed_qa


def test_sections_are_shown_with_their_labels_and_a_wrong_article_hides_no_other():
    article = {
        "QUESTION": "Does it help?",
        "LABELS": ["BACKGROUND", "MAIN RESULTS"],
        "CONTEXTS": ["Nobody knows.", "It did."],
        "final_decision": "yes",
        "LONG_ANSWER": "It helps.",
    }
    problems = Problems("ori_pqal.json")
    table = read_pubmed_qa(
        io.StringIO(json.dumps({"7": {**article, "LABELS": []}, "8": article})), problems
    )
    (row,) = table.rows
    assert tuple(row.cells) == COLUMNS
    assert row.cells["context"] == "Background. Nobody knows.\nMain Results. It did."
    assert (row.where, row.cells["pmid"], row.cells["final_decision"]) == ("article 2", "8", "yes")
    assert problems.messages == [
        "ori_pqal.json: article 1: LABELS and CONTEXTS are not two lists of the same length"
    ]
