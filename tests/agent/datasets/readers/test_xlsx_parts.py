"""Excel files that Excel would not write: refused before they fill the memory."""

import time
import zipfile
from functools import partial

import pytest

from tests.agent.datasets.own import CANARY, instances, own, problem
from tests.agent.datasets.readers.table_files import HEAD, XLSX, sheet


@pytest.mark.full
def test_an_excel_file_that_would_fill_the_memory(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", "x"))
    with (
        zipfile.ZipFile(tmp_path / "data.xlsx", "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/x", "w") as f,
    ):
        for _ in range(520):
            f.write(bytes(2**20))
    assert (tmp_path / "data.xlsx").stat().st_size < 2**20
    assert "unpacks to more than" in problem(own(tmp_path, data=XLSX))


def test_an_excel_file_whose_xml_reaches_out_or_laughs(tmp_path):
    laughs = "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    sheet(tmp_path, HEAD, ("n", "a", "x"))
    source = zipfile.ZipFile(tmp_path / "data.xlsx")
    parts = {name: source.read(name) for name in source.namelist()}
    xml = parts["xl/worksheets/sheet1.xml"].decode()
    doctype = (
        f'<!DOCTYPE x [<!ENTITY a "{CANARY}">{laughs}<!ENTITY out SYSTEM "file:///etc/passwd">]>'
    )
    at = xml.index("<worksheet")
    for entity in ("&i;", "&out;"):
        evil = xml[:at] + doctype + xml[at:].replace("<v>", f"<v>{entity}", 1)
        with zipfile.ZipFile(tmp_path / "data.xlsx", "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, evil if name == "xl/worksheets/sheet1.xml" else content)
        said = problem(own(tmp_path, data=XLSX))
        assert "root:" not in said
        assert said.startswith("data.xlsx: ")


STRINGS, SHEET = "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"


def edited(tmp_path, part, change):
    """Write a sheet of one row, and change one of its parts."""
    sheet(tmp_path, HEAD, ("n", "a", "x"))
    with zipfile.ZipFile(tmp_path / "data.xlsx") as source:
        parts = {name: source.read(name) for name in source.namelist()}
    # A table of texts beside the sheet, as Excel writes it; openpyxl writes them into the cells.
    parts[STRINGS] = (
        b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>n</t></si></sst>'
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/{STRINGS}" ContentType="{kind}"/></Types>'
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(
        b"</Types>", override.encode()
    )
    parts[part] = change(parts[part])
    with zipfile.ZipFile(tmp_path / "data.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return own(tmp_path, data=XLSX)


def with_rows(rows: str):
    return lambda xml: xml.replace(b"</sheetData>", rows.encode() + b"</sheetData>")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            '<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>',
            "after row 2: the Excel file is damaged: its rows",
        ),
        (
            '<row r="1048577"><c r="A1048577"><v>1</v></c></row>',
            "after row 2: the Excel file is damaged: its rows",
        ),
        (
            '<row r="2"><c r="A2"><v>1</v></c></row>',
            "after row 2: the Excel file is damaged: its rows",
        ),
        (
            '<row r="-5"><c r="A3"><v>1</v></c></row>',
            "after row 2: the Excel file is damaged: its rows",
        ),
        (
            '<row r="3"><c r="A4"><v>1</v></c></row>',
            "after row 2: the Excel file is damaged: its rows",
        ),
        (
            '<row r="3"><c r="A3"><v>1</v></c><c r="A3"><v>2</v></c></row>',
            "row 3: the Excel file is damaged: a cell occurs",
        ),
        ('<row r="3"><c r="!!"><v>1</v></c></row>', "after row 2: the Excel file is damaged"),
        (
            '<row r="3">' + '<c t="n"><v>1</v></c>' * 100_000 + "</row>",
            "after row 2: a row has more than 16384 cells",
        ),
        (
            '<row r="1048576"><c r="D1048576"><v>1</v></c></row>',
            "row 1048576: has more cells than the header, which has 3",
        ),
    ],
)
def test_rows_that_excel_does_not_write_are_refused_at_once(tmp_path, rows, said):
    benchmark = edited(tmp_path, SHEET, with_rows(rows))
    before = time.monotonic()
    assert said in problem(benchmark)
    assert time.monotonic() - before < 5


def test_a_cell_in_the_last_column_of_every_row_costs_no_more_than_one_in_the_first(tmp_path):
    rows = "".join(
        f'<row r="{i}"><c r="A{i}"><v>1</v></c><c r="XFD{i}" s="0"/></row>'
        for i in range(3, 20_000)
    )
    benchmark = edited(tmp_path, SHEET, with_rows(rows))
    before = time.monotonic()
    assert "row 3: the column 'correct_answer' is empty" in problem(benchmark)
    assert time.monotonic() - before < 10


@pytest.mark.parametrize(
    "xml",
    [
        "<mergeCells count='1'><mergeCell ref='A1:B2'/></mergeCells>",
        '<x:mergeCells xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<x:mergeCell\n other=">"\n ref = "A1:B2"/></x:mergeCells>',
    ],
)
def test_merged_cells_are_found_however_they_are_written(tmp_path, xml):
    change = lambda content: content.replace(b"</sheetData>", b"</sheetData>" + xml.encode())  # noqa: E731
    assert "cells A1:B2: are merged" in problem(edited(tmp_path, SHEET, change))


def test_texts_beside_the_sheet_are_read(tmp_path):
    rows = '<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>0</v></c></row>'
    made = instances(edited(tmp_path, SHEET, with_rows(rows)))
    assert [i.references[0].text for i in made] == ["a", "n"]


@pytest.mark.full
def test_a_million_texts_that_no_cell_has_and_one_of_a_hundred_megabytes(tmp_path):
    for texts in (b"<si><t>a</t></si>" * 1_100_000, b"<si><t>" + b"A" * 100_000_000 + b"</t></si>"):
        benchmark = edited(
            tmp_path, STRINGS, lambda xml, texts=texts: xml.replace(b"</sst>", texts + b"</sst>")
        )
        assert (tmp_path / "data.xlsx").stat().st_size < 2**20
        before = time.process_time()
        assert "save the table as CSV" in problem(benchmark)
        assert time.process_time() - before < 15


def _with_entity(xml: bytes, evil: bytes, entity: bytes) -> bytes:
    return xml.replace(b"<sst", evil).replace(b"<t>", b"<t>" + entity)


def test_entities_in_the_texts_of_all_cells(tmp_path):
    laughs = "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    doctype = (
        f'<!DOCTYPE sst [<!ENTITY a "{CANARY}">{laughs}<!ENTITY out SYSTEM "file:///etc/passwd">]>'
    )
    for entity in (b"&i;", b"&out;"):
        evil = doctype.encode() + b"<sst"
        put = partial(_with_entity, evil=evil, entity=entity)
        assert "declares XML entities" in problem(edited(tmp_path, STRINGS, put))


def test_a_sheet_that_breaks_off_is_named_with_the_row_before(tmp_path):
    sheet(tmp_path, HEAD, *[("n" * 50, "a", str(i)) for i in range(2000)])
    source = zipfile.ZipFile(tmp_path / "data.xlsx")
    parts = {name: source.read(name) for name in source.namelist()}
    for change in (
        lambda xml: xml[: len(xml) * 3 // 4],
        lambda xml: xml.replace(b'r="C900"', b'r="900"'),
    ):
        with zipfile.ZipFile(tmp_path / "data.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(
                    name, change(content) if name == "xl/worksheets/sheet1.xml" else content
                )
        said = problem(own(tmp_path, data=XLSX))
        assert said.startswith("data.xlsx: after row ")
        assert "the Excel file is damaged" in said
