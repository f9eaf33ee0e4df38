"""Steps keep flags, grades and settings, and redact every text."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.steps import redact_annotations
from agent.exchange.helm.redaction.walk import REDACTED, FolderRedactors, Options, redact_files
from tests.agent.exchange.helm.redaction.redacted_folders import (
    KEY,
    Slow,
    leaves,
    redact_file,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_annotations_of_any_form_show_no_text_and_no_number_but_grades(tree: dict[str, Any]):
    slow: Any = Slow()
    slow.seconds = 0
    names = Names(bool, KEY, redacted_before=False)
    contents, _ = redact_files(
        {"a": (redact_annotations, tree)}, names, Options(blank_annotations=True), slow
    )
    assert all(
        shown in (REDACTED, None, True, False) or is_a_grade(shown)
        for shown in leaves(contents["a"])
    )


def is_a_grade(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= 100


def test_a_number_beside_a_word_that_is_no_grade_is_not_shown(redactors: FolderRedactors):
    tree = {
        "patient_age_value": 97,
        "room_rank": 12,
        "value": 84.73,
        "scored_by": 7,
        "accuracy_score": 4,
        "points": 2,
    }
    names = Names(redactors.names, KEY, redacted_before=False)
    contents, _ = redact_files({"a": (redact_annotations, tree)}, names, Options(), redactors.texts)
    assert [one for one in leaves(contents["a"]) if one != REDACTED] == [4, 2]


def test_numbers_of_records_in_the_settings_of_a_run_are_left_out(redactors: FolderRedactors):
    args = {
        "hadm_id": 20000147, "subject_id": 10000032, "note_id": 84736251, "visit": 7731, "zip": 2114,
        "zip_code": "02114",
        "phone": 6174829033, "born": 19610304, "year": 1961, "ids": [482559013, 6174829033], "lat": 42.3601,
        "nested": {"row": {"mrn": 84736251, "at": [[84736251]]}}, "a": "20000147", "num_instances": 84736251,
        "max_length": 482559013, "seed": 19610304, "prob": 0.4823590, "num_train": 17, "k": 5, "case": True,
    }  # fmt: skip
    spec = {
        "scenario_spec": {"class_name": "x.Y", "args": args},
        "metric_specs": [{"class_name": "x.Y", "args": args}],
        "adapter_spec": {
            "max_tokens": 6174829033,
            "num_outputs": 84736251,
            "temperature": 1e-07,
            "num_trials": 1,
        },
        "data_augmenter_spec": {
            "perturbation_specs": [{"class_name": "x.Y", "args": args}],
            "seeds_per_instance": 84736,
        },
    }
    new = redact_file("run_spec.json", spec, redactors)
    kept = {one for one in leaves(new) if isinstance(one, int | float)}
    assert kept == {17, 5, 1, 1e-07}
    assert not any(number in json.dumps(new) for number in ("20000147", "02114"))
