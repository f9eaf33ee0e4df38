"""XML that is hostile, broken or without end is refused by its file."""

import io

import pytest

from agent.datasets.readers import safe_xml
from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import problem, sample_copy

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "XQZ-patient-77">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    + "]><r>&j;</r>"
)


OUTSIDE = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "has a document type"),
        (OUTSIDE, "has a document type"),
        (f"<record><event>{CANARY}</event>", "not well-formed"),
        (f"<record>{CANARY} & more</record>", "not well-formed"),
        ("", "not well-formed"),
        ("<a>" * 5000 + "</a>" * 5000, "nested too deeply"),
        ('<?xml version="1.0" encoding="utf-16"?><record/>' + CANARY, "not well-formed"),
    ],
)
def test_hostile_and_broken_records_are_refused_by_their_file(tmp_path, text, said):
    folder = sample_copy("medalign", tmp_path)
    (folder / "medalign_ehr_xml/7002.xml").write_text(text)
    found = problem("medalign", folder)
    assert "the record 7002.xml, line 1," in found
    assert said in found
    folder = sample_copy("n2c2_ct_matching", tmp_path / "n2c2")
    (folder / "test/902.xml").write_text(text)
    found = problem("n2c2_ct_matching", folder, subject="ENGLISH")
    assert "902.xml line 1" in found
    assert said in found


def test_a_record_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(safe_xml, "_MAX_SIZE", 2**21)
    with pytest.raises(safe_xml.XmlError, match="the whole document: has more than 2 MiB"):
        safe_xml.read_elements(io.BytesIO(b"<a>" + b"x" * 2**22))
