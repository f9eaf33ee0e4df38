"""Values that a key or the head of a column names, and tables of measures, which stay as they are."""

import pytest

from agent.redaction.views.labelled import read_labelled
from agent.redaction.views.views import build_views


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"memberId": "3qw8tn4rd61", "stable": true}', "member id: 3qw8tn4rd61"),
        ('{"age": 93}', "age: 93"),
        ("<record><mrn>qx-55</mrn></record>", "mrn: qx-55"),
        ("<tr><td>Patient age</td><td>97</td></tr>", "patient age: 97"),
        ('zip,diet\n"60629",low salt\n60637,none', "zip: 60637"),
        ("| Diet | Group number |\n|---|---|\n| none | 5td1w22 |", "group number: 5td1w22"),
        ("retrying: dictated_by=Yevhen; done", "dictated by: Yevhen"),
    ],
)
def test_a_value_is_read_beside_the_word_for_it(text: str, read: str):
    assert any(read in view.text for view in build_views(text))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        '{"drug": {"name": "metformin", "dose": 500}, "test_name": "HbA1c", "gene_id": "BRCA1"}',
        "Sodium\tPotassium\n138\t4.1",
        "Drug,Dose\nmetformin,500 mg",
        "| Variable | Mean |\n|---|---|\n| Sodium | 138 |",
        "The plan, after review, is rest.\nFever, cough, and chills resolved.",
    ],
)
def test_words_for_things_are_no_labels(text: str):
    assert list(read_labelled(text)) == []
