"""A Word document that Word would not write: named, with what is wrong, in place of the library's own words."""

import zipfile

import docx
import pytest

from agent.datasets.folder import hash_file
from agent.datasets.readers.files import Files
from agent.datasets.sources.race_based_med import load_race_based_med
from agent.errors import BenchmarkError

CANARY = "XQZ-patient-77"
DOCUMENT, TYPES, RELS = "word/document.xml", "[Content_Types].xml", "_rels/.rels"


def read(tmp_path, part, change):
    document = docx.Document()
    document.add_paragraph("Run 1: What is the matter?")
    run = document.add_paragraph().add_run(CANARY)
    run.font.color.rgb = docx.shared.RGBColor(255, 0, 0)
    document.save(tmp_path / "good.docx")
    with zipfile.ZipFile(tmp_path / "good.docx") as source, zipfile.ZipFile(tmp_path / "s.docx", "w") as archive:
        for name in source.namelist():
            archive.writestr(name, change(source.read(name)) if name == part else source.read(name))
    path = tmp_path / "s.docx"
    [(table, problems)] = load_race_based_med(Files({"s.docx": path}, {"s.docx": hash_file(path, "s.docx")}))
    problems.check()
    return list(table.rows)


def test_the_document_as_word_writes_it(tmp_path):
    [row] = read(tmp_path, "none", bytes)
    assert (row.cells["response"], row.cells["race_based"]) == (CANARY, "yes")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (DOCUMENT, lambda xml: xml.replace(b"w:body>", b"w:other>")),
        (DOCUMENT, lambda xml: b"<x/>"),
        (DOCUMENT, lambda xml: b""),
        (DOCUMENT, lambda xml: xml.replace(b'w:val="FF0000"', b'w:val="ZZZ"')),
        (DOCUMENT, lambda xml: xml.replace(b' w:val="FF0000"', b"")),
        (TYPES, lambda xml: b"<x/>"),
        (TYPES, lambda xml: b"?"),
        (RELS, lambda xml: b"<x/>"),
    ],
)
def test_a_document_that_word_would_not_write(tmp_path, part, change):
    with pytest.raises(BenchmarkError, match=r"^s\.docx: the whole file: is not a Word document") as caught:
        read(tmp_path, part, change)
    assert CANARY not in str(caught.value)
