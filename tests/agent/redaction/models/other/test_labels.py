"""Labels of other models: prefixes of a scheme are no part of them, and no unknown label passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RedactionError
from agent.io.model_folder import ModelFolderError
from agent.redaction.models.admission import folder_digest
from agent.redaction.models.other.labels import KNOWN, map_labels


def test_the_digest_changes_with_any_byte_of_the_folder(pipeline, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/weights").write_bytes(b"one")
    first = folder_digest(tmp_path)
    (tmp_path / "a/weights").write_bytes(b"two!")
    second = folder_digest(tmp_path)
    (tmp_path / "a/weights").rename(tmp_path / "a/weight")
    assert len({first, second, folder_digest(tmp_path), folder_digest(pipeline)}) == 4
    with pytest.raises(RedactionError, match="the folder does not exist"):
        folder_digest(tmp_path / "missing")


@pytest.mark.parametrize("prefix", ["", "B-", "I-", "E-", "S-", "L-", "U-", "b-"])
def test_prefixes_of_a_tagging_scheme_are_no_part_of_a_label(prefix):
    assert map_labels([f"{prefix}PER", "O"], {}) == {f"{prefix}PER": "NAME"}


@given(
    st.text(min_size=1, max_size=12).filter(
        lambda label: label.upper() not in KNOWN and label[1:2] != "-"
    )
)
def test_no_unknown_label_passes(label: str):
    with pytest.raises(ModelFolderError):
        map_labels(["PER", label], {})


def test_a_model_of_labels_that_identify_nobody_is_refused():
    with pytest.raises(ModelFolderError, match="none of the model's labels"):
        map_labels(["O", "CARDINAL"], {})
    with pytest.raises(ModelFolderError, match="none of the model's labels"):
        map_labels(["PER"], {"PER": None})
