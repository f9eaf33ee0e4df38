"""Texts of one instance are redacted together."""

from collections.abc import Sequence
from typing import Any

from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.shapes import OF_A_RUN
from agent.exchange.helm.redaction.steps import redact_annotations
from agent.exchange.helm.redaction.walk import REDACTED, FolderRedactors, Options, redact_files
from tests.agent.exchange.helm.redaction.redacted_folders import KEY, leaves


class Restless:
    """A redactor that never settles."""

    policy = "restless 1"
    turns = 0

    def redact_and_find(self, texts: Sequence[str], identifiers: Sequence[object] = ()) -> Any:
        self.turns += 1
        return [(f"turn {self.turns}", ())] * len(texts)


def test_texts_on_which_redaction_does_not_settle_are_not_shown():
    restless: Any = Restless()
    names = Names(bool, KEY, redacted_before=False)
    contents, counts = redact_files(
        {"a": (redact_annotations, {"judge": {"says": "much"}})}, names, Options(), restless
    )
    assert list(leaves(contents)) == [REDACTED]
    assert counts["unsettled instances"] == 1


def test_what_the_data_set_says_of_a_patient_is_gone_from_answers(redactors: FolderRedactors):
    told = {"patient_name": "Wren Featherstonehaugh", "mrn": "QX-77-3", "subject_id": 7731}
    state = {
        "instance": {"id": "id7", "input": {"text": "Who?"}, "extra_data": {"row": told}},
        "result": {
            "completions": [{"text": "wren featherstonehaugh, QX 77 3, also 7731, has a cough."}]
        },
    }
    names = Names(redactors.names, KEY, redacted_before=False)
    files = {"scenario_state.json": (OF_A_RUN["scenario_state.json"], {"request_states": [state]})}
    contents, _ = redact_files(files, names, Options(), redactors.texts)
    said = contents["scenario_state.json"]["request_states"][0]["result"]["completions"][0]["text"]
    assert said.startswith("[NAME-1], [")
    assert said.endswith(", has a cough.")
    assert not any(word in said for word in ("wren", "QX", "77"))
