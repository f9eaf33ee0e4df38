"""RaceBias: what is red in the Word document, and a document that Word would not write."""

import zipfile
from pathlib import Path

import docx
import pytest
from docx.shared import RGBColor

from agent.datasets.folder import hash_file
from agent.datasets.readers.files import Files
from agent.datasets.sources.race_based_med import load_race_based_med
from agent.errors import BenchmarkError
from tests.agent.datasets.sources.public import gold, load, problem, prompt

CANARY = "XQZ-patient-77"
DOCUMENT, TYPES, RELS = "word/document.xml", "[Content_Types].xml", "_rels/.rels"


def read(tmp_path, part, change):
    document = docx.Document()
    document.add_paragraph("Run 1: What is the matter?")
    run = document.add_paragraph().add_run(CANARY)
    run.font.color.rgb = docx.shared.RGBColor(255, 0, 0)
    document.save(tmp_path / "good.docx")
    with (
        zipfile.ZipFile(tmp_path / "good.docx") as source,
        zipfile.ZipFile(tmp_path / "s.docx", "w") as archive,
    ):
        for name in source.namelist():
            archive.writestr(name, change(source.read(name)) if name == part else source.read(name))
    path = tmp_path / "s.docx"
    [(table, problems)] = load_race_based_med(
        Files({"s.docx": path}, {"s.docx": hash_file(path, "s.docx")})
    )
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
    with pytest.raises(
        BenchmarkError, match=r"^s\.docx: the whole file: is not a Word document"
    ) as caught:
        read(tmp_path, part, change)
    assert CANARY not in str(caught.value)


def supplement(path: Path, *paragraphs: tuple[str, str | None]) -> Path:
    """Write a Word document; a paragraph's last word gets the colour."""
    document = docx.Document()
    for text, color in paragraphs:
        first, _, last = text.rpartition(" ")
        paragraph = document.add_paragraph(f"{first} ")
        run = paragraph.add_run(last)
        if color:
            run.font.color.rgb = RGBColor.from_string(color)
    document.save(path)
    return path


def test_an_answer_is_race_based_when_any_of_it_is_exactly_red(tmp_path):
    path = supplement(
        tmp_path / "s.docx",
        ("Run 1: How is eGFR computed?", None),
        ("From creatinine alone.", "C00000"),
        ("Nothing else.", "000000"),
        (
            "Run 2: And for Black patients?",
            "FF0000",
        ),  # a red question says nothing about the answer
        ("Multiply by 1.2.", None),
        ("Because of muscle.", "FF0000"),
        ("Run 3:without a space after the colon", None),
        ("Not kept.", "FF0000"),
        ("Run 1: How is eGFR computed?", None),
        ("From creatinine alone.", None),
        ("Nothing else.", None),
    )
    made = load("race_based_med", path)
    assert [gold(instance) for instance in made] == ["B", "A"]
    assert "From creatinine alone.\nNothing else." in prompt(made[0])
    assert "Not kept" not in prompt(made[0]) + prompt(made[1])


def test_answers_to_one_question_are_one_unit_however_it_is_written(tmp_path):
    path = supplement(
        tmp_path / "s.docx",
        ("Run 1: How is eGFR computed?", None),
        ("By age.", None),
        (
            "Run 2: how is eGFR computed\nBy a formula, which follows.",
            None,
        ),  # a line break, no paragraph
        ("By sex.", None),
        ("Run 1: How is capacity computed?", None),
        ("By height.", None),
    )
    one, again, other = (instance.unit for instance in load("race_based_med", path))
    assert one == again != other


def test_one_answer_with_two_labels_is_a_problem_and_not_a_guess(tmp_path):
    run = ("Run 1: How is eGFR computed?", None)
    path = supplement(tmp_path / "s.docx", run, ("By age.", None), run, ("By age.", "FF0000"))
    assert "s.docx: paragraph 3: is the same as an earlier answer, but only one" in problem(
        "race_based_med", path
    )


def test_what_is_no_supplement_is_refused(tmp_path):
    (tmp_path / "text.docx").write_text("Run 1: not a Word file")
    assert "is not a Word document" in problem("race_based_med", tmp_path / "text.docx")
    with zipfile.ZipFile(tmp_path / "other.docx", "w") as archive:
        archive.writestr("a.txt", "a")
    assert "is not a Word document" in problem("race_based_med", tmp_path / "other.docx")
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * (2**28 + 1))
    assert "unpacks to more than 256 MiB" in problem("race_based_med", tmp_path / "bomb.docx")
    supplement(tmp_path / "empty.docx", ("Something else.", None))
    assert 'no paragraph that begins with "Run 1: ..."' in problem(
        "race_based_med", tmp_path / "empty.docx"
    )
