"""TSV, Parquet, Feather and Excel files as people and programs leave them: text stays text, faults have a place."""

import datetime
import decimal
import gzip
import io
import subprocess
import sys
import time
import zipfile
from functools import partial

import openpyxl
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.datasets.readers.csv_table import read_csv, read_tsv
from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.parquet import format_typed_value
from agent.datasets.readers.table import Problems
from tests.agent.datasets.own import CANARY, instances, own, problem

TSV, PARQUET, FEATHER, XLSX = (f"dataset_file: data.{end}" for end in ("tsv", "parquet", "feather", "xlsx"))
CHAT = "extra_columns: {more: more}\noptional_columns: [more]\n"


def extras(benchmark) -> list[str]:
    return [i.extra["more"] for i in instances(benchmark)]


def test_tabs_between_columns_and_quotes_around_lines(tmp_path):
    text = 'note\tcorrect_answer\n"line 1\nline 2\twith a tab"\tNA\nb, c\t1\n'
    made = instances(own(tmp_path, data=TSV, data_tsv=text))
    assert [i.messages[0].content for i in made] == ["line 1\nline 2\twith a tab", "b, c"]
    assert [i.references[0].text for i in made] == ["NA", "1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("note,correct_answer\nn,a\n", "only one column; save the file with tabs"),
        ("note\tcorrect_answer\nn\n", "row 1 (line 2): has 1 fields, and the header has 2"),
        (f'note\tcorrect_answer\n"{CANARY}\ta\n', "row 1 (line 2): a quote is opened and never closed"),
        ("note\tnote\tcorrect_answer\nn\tn\ta\n", "the column 'note' is there twice or more: columns 1, 2"),
        ("", "expected a header line"),
    ],
)
def test_tab_separated_files_that_are_wrong(tmp_path, text, said):
    assert said in problem(own(tmp_path, data=TSV, data_tsv=text))


def test_a_loader_that_the_definition_names_comes_before_the_ending(tmp_path):
    benchmark = own(tmp_path, "loader: tsv\n", data_csv="note\tcorrect_answer\nn\ta\n")
    assert instances(benchmark)[0].messages[0].content == "n"


def test_a_compressed_file_is_read_and_half_of_one_is_not(tmp_path):
    packed = gzip.compress(b"note,correct_answer\n" + b"n,a\n" * 5000)
    for name, said in (("data.csv.gz", ""), ("half.csv.gz", "is not a whole gzip file")):
        (tmp_path / name).write_bytes(packed if not said else packed[: len(packed) // 2])
        benchmark = own(tmp_path, data=f"dataset_file: {name}")
        assert (said in problem(benchmark)) if said else len(instances(benchmark)) == 5000


def arrow(**columns):
    return pyarrow.table(columns)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_typed_columns_become_the_text_they_are_written_as(tmp_path, kind):
    values = [1, None]
    table = arrow(note=["n1", "n2"], correct_answer=["a", "NA"], more=values)
    write = pyarrow.parquet.write_table if kind == "parquet" else pyarrow.feather.write_feather
    write(table, str(tmp_path / f"data.{kind}"))
    benchmark = own(tmp_path, CHAT, data=f"dataset_file: data.{kind}")
    assert extras(benchmark) == ["1", ""]
    assert [i.references[0].text for i in instances(benchmark)] == ["a", "NA"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("007", "007"),
        (True, "True"),
        (7, "7"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (float("nan"), ""),
        (decimal.Decimal("1.50"), "1.50"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 13, 5), "2024-02-29 13:05:00"),
        (b"text", "text"),
        (["a", None, 1], '["a", null, 1]'),
        ({"k": datetime.date(2024, 2, 29)}, '{"k": "2024-02-29"}'),
    ],
)
def test_a_typed_value_as_text(value, text):
    assert format_typed_value(value) == text


def test_more_rows_than_are_read_at_once_stay_in_order(tmp_path):
    numbers = [str(i) for i in range(1000)]
    pyarrow.parquet.write_table(
        arrow(note=numbers, correct_answer=numbers), tmp_path / "data.parquet", row_group_size=300
    )
    made = instances(own(tmp_path, data=PARQUET))
    assert [i.references[0].text for i in made] == numbers


@pytest.mark.parametrize("data", [PARQUET, FEATHER, XLSX])
@pytest.mark.parametrize("content", [b"", b"note,correct_answer\nn,a\n", b"PAR1 no", b"PK\x03\x04 no"])
def test_a_file_of_another_kind_is_named(tmp_path, data, content):
    name = data.split()[1]
    (tmp_path / name).write_bytes(content)
    assert f"{name}: the whole file: is not a" in problem(own(tmp_path, data=data))


def test_bytes_that_are_no_text_have_a_row(tmp_path):
    pyarrow.parquet.write_table(
        arrow(note=["n", "n"], correct_answer=["a", "a"], more=[b"x", b"\xff\xfe"]), tmp_path / "data.parquet"
    )
    assert "data.parquet: row 2: a cell holds bytes" in problem(own(tmp_path, CHAT, data=PARQUET))


def test_a_damaged_parquet_file_stops_at_a_row(tmp_path):
    pyarrow.parquet.write_table(
        arrow(note=[f"n{i}" for i in range(5000)], correct_answer=["a"] * 5000), tmp_path / "data.parquet"
    )
    content = bytearray((tmp_path / "data.parquet").read_bytes())
    content[40:400] = b"\xff" * 360
    (tmp_path / "data.parquet").write_bytes(content)
    assert "data.parquet: after row 0: the Parquet file is damaged" in problem(own(tmp_path, data=PARQUET))


def test_parquet_without_pyarrow_says_what_to_install(tmp_path):
    own(tmp_path, data=PARQUET, data_parquet="PAR1")
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from agent.catalog.benchmark import load_benchmark\n"
        "from agent.datasets.load import load_instances, locate_dataset\n"
        f"b = load_benchmark(Path({str(tmp_path / 'own.yaml')!r}))\n"
        "try:\n    load_instances(b, locate_dataset(b))\nexcept Exception as why:\n    print(why, why.advice)\n"
    )
    said = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert "pip install 'intramural[parquet]'" in said


@pytest.mark.parametrize("write", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pyarrow.array([datetime.timedelta(1)]), "row 1: a cell holds bytes that are no text, or a length of time"),
        (pyarrow.array([{"a": [{"b": datetime.timedelta(1)}]}]), "row 1: a cell holds bytes that are no text, or a"),
        (pyarrow.array([2**30], pyarrow.date32()), "after row 0: column 3 (date32[day]): holds what cannot be written"),
        (pyarrow.array([-(2**30)], pyarrow.date32()), "after row 0: column 3 (date32[day]): holds what cannot be"),
        (pyarrow.array([2**62], pyarrow.timestamp("us")), "after row 0: column 3 (timestamp[us]): holds what cannot"),
        (pyarrow.array([1_000_000_001], pyarrow.timestamp("ns")), "a time finer than microseconds"),
        (pyarrow.array([0], pyarrow.timestamp("us", tz="Mars/Phobos")), "of an unknown time zone"),
        (
            pyarrow.Array.from_buffers(
                pyarrow.string(), 1, [None, pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe")]
            ),
            "after row 0: column 3: a cell holds bytes that are no text",
        ),
        (pyarrow.array(["x" * (2**24 + 1)]), "after row 0: column 3: a cell is longer than 16777216 bytes"),
        (pyarrow.array([["x", "x" * (2**24 + 1)]]), "after row 0: column 3: a cell is longer than 16777216 bytes"),
        (pyarrow.array([{"k": b"x" * (2**24 + 1)}]), "after row 0: column 3: a cell is longer than 16777216 bytes"),
        (
            pyarrow.array(["x" * (2**24 + 1)]).dictionary_encode(),
            "after row 0: column 3: a cell is longer than 16777216 bytes",
        ),
    ],
)
def test_what_cannot_be_a_cell_is_said_by_its_column(tmp_path, write, column, said):
    kind = "parquet" if write is pyarrow.parquet.write_table else "feather"
    write(arrow(note=["n"], correct_answer=["a"], more=column), str(tmp_path / f"data.{kind}"))
    assert said in problem(own(tmp_path, CHAT, data=f"dataset_file: data.{kind}"))


@pytest.mark.full
def test_a_small_parquet_file_of_a_gigabyte_is_refused_at_its_first_cell(tmp_path):
    note = "x" * 20_000_000
    table = arrow(note=[note] * 50, correct_answer=["a"] * 50)
    with pyarrow.parquet.ParquetWriter(tmp_path / "data.parquet", table.schema, compression="zstd") as writer:
        writer.write_table(table)
    assert (tmp_path / "data.parquet").stat().st_size < 20_000
    benchmark = own(tmp_path, data=PARQUET)
    before = time.monotonic()
    assert "after row 0: column 1: a cell is longer than 16777216 bytes" in problem(benchmark)
    assert time.monotonic() - before < 10


def sheet(tmp_path, *rows, title="Cases", change=lambda book: None):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    change(book)
    book.save(tmp_path / "data.xlsx")


HEAD = ("note", "correct_answer", "more")


def test_a_sheet_is_read_as_excel_shows_it(tmp_path):
    day, time = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5)
    values = (1, 1.0, 0.1 + 0.2, True, "007", "NA", day, time, None, "two\nlines", "<b>&amp;")
    sheet(tmp_path, HEAD, *(("n", "a", value) for value in values))
    assert extras(own(tmp_path, CHAT, data=XLSX)) == [
        *("1", "1", "0.3", "True", "007", "NA", "2024-02-29", "2024-02-29 13:05:00", "", "two\nlines", "<b>&amp;")
    ]


def test_formulas_are_refused_by_their_cells_and_never_computed(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", "=1+1"), ("n", "=HYPERLINK(A1)", "x"), ("n", "a", "'=text"))
    said = problem(own(tmp_path, CHAT, data=XLSX))
    assert "data.xlsx: cell C2: is a formula" in said
    assert "data.xlsx: cell B3: is a formula" in said
    assert "C4" not in said
    assert "HYPERLINK" not in said


def test_a_formula_in_the_header_and_an_error_of_excels(tmp_path):
    def change(book):
        book.active["C2"].value, book.active["C2"].data_type = "#N/A", "e"

    sheet(tmp_path, ("note", "correct_answer", "=A1"), ("n", "a", "x"), change=change)
    said = problem(own(tmp_path, data=XLSX))
    assert "cell C1: is a formula" in said
    sheet(tmp_path, HEAD, ("n", "a", "x"), change=change)
    assert "cell C2: is an error of Excel's" in problem(own(tmp_path, data=XLSX))


def test_merged_cells_are_refused_by_name(tmp_path):
    def change(book):
        book.active.merge_cells("A2:A3")
        book.active.merge_cells("B5:C6")

    sheet(tmp_path, HEAD, *[("n", "a", "x")] * 5, change=change)
    said = problem(own(tmp_path, data=XLSX))
    assert "cells A2:A3: are merged" in said
    assert "cells B5:C6: are merged" in said


def test_of_several_sheets_one_must_be_named_and_hidden_ones_do_not_count(tmp_path):
    def hidden(book):
        book.create_sheet("Old").sheet_state = "hidden"

    def several(book):
        hidden(book)
        other = book.create_sheet("Other")
        other.append(HEAD)
        other.append(("from the other", "a", "x"))

    sheet(tmp_path, HEAD, ("n", "a", "x"), change=hidden)
    assert len(instances(own(tmp_path, data=XLSX))) == 1
    sheet(tmp_path, HEAD, ("n", "a", "x"), change=several)
    assert "has 2 visible sheets; name one" in problem(own(tmp_path, data=XLSX))
    named = own(tmp_path, data="dataset_file: {path: data.xlsx, sheet: Other}")
    assert instances(named)[0].messages[0].content == "from the other"
    assert "has no sheet 'Othr'" in problem(own(tmp_path, data="dataset_file: {path: data.xlsx, sheet: Othr}"))


def test_rows_of_a_sheet_are_numbered_as_excel_does(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", "x"), (None, None, None), ("n", None, "x"), ("n", "a", "x", CANARY))
    said = problem(own(tmp_path, data=XLSX))
    assert "data.xlsx: row 4: the column 'correct_answer' is empty" in said
    assert "data.xlsx: row 5: has more cells than the header's 3" in said


def test_a_sheet_without_a_header_does_not_have_its_first_patient_quoted(tmp_path):
    sheet(tmp_path, (CANARY, CANARY, CANARY), ("n", "a", "x"))
    assert "holds none of the columns 'note', 'correct_answer'" in problem(own(tmp_path, data=XLSX))
    sheet(tmp_path, (None, None), ("n", "a"))
    assert "row 1: expected a row with column names" in problem(own(tmp_path, data=XLSX))


def test_an_excel_file_that_would_fill_the_memory(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", "x"))
    with zipfile.ZipFile(tmp_path / "data.xlsx", "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/x", "w") as f:
        for _ in range(520):
            f.write(bytes(2**20))
    assert (tmp_path / "data.xlsx").stat().st_size < 2**20
    assert "unpacks to more than" in problem(own(tmp_path, data=XLSX))


def test_an_excel_file_whose_xml_reaches_out_or_laughs(tmp_path):
    laughs = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    sheet(tmp_path, HEAD, ("n", "a", "x"))
    source = zipfile.ZipFile(tmp_path / "data.xlsx")
    parts = {name: source.read(name) for name in source.namelist()}
    xml = parts["xl/worksheets/sheet1.xml"].decode()
    doctype = f'<!DOCTYPE x [<!ENTITY a "{CANARY}">{laughs}<!ENTITY out SYSTEM "file:///etc/passwd">]>'
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
    parts[STRINGS] = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>n</t></si></sst>'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/{STRINGS}" ContentType="{kind}"/></Types>'
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", override.encode())
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
        ('<row r="1048577"><c r="A1048577"><v>1</v></c></row>', "after row 2: the Excel file is damaged: its rows"),
        ('<row r="2"><c r="A2"><v>1</v></c></row>', "after row 2: the Excel file is damaged: its rows"),
        ('<row r="-5"><c r="A3"><v>1</v></c></row>', "after row 2: the Excel file is damaged: its rows"),
        ('<row r="3"><c r="A4"><v>1</v></c></row>', "after row 2: the Excel file is damaged: its rows"),
        (
            '<row r="3"><c r="A3"><v>1</v></c><c r="A3"><v>2</v></c></row>',
            "row 3: the Excel file is damaged: a cell is",
        ),
        ('<row r="3"><c r="!!"><v>1</v></c></row>', "after row 2: the Excel file is damaged"),
        ('<row r="3">' + '<c t="n"><v>1</v></c>' * 100_000 + "</row>", "after row 2: a row has more than 16384 cells"),
        ('<row r="1048576"><c r="D1048576"><v>1</v></c></row>', "row 1048576: has more cells than the header's 3"),
    ],
)
def test_rows_that_excel_does_not_write_are_refused_at_once(tmp_path, rows, said):
    benchmark = edited(tmp_path, SHEET, with_rows(rows))
    before = time.monotonic()
    assert said in problem(benchmark)
    assert time.monotonic() - before < 5


def test_a_cell_in_the_last_column_of_every_row_costs_no_more_than_one_in_the_first(tmp_path):
    rows = "".join(f'<row r="{i}"><c r="A{i}"><v>1</v></c><c r="XFD{i}" s="0"/></row>' for i in range(3, 20_000))
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
        benchmark = edited(tmp_path, STRINGS, lambda xml, texts=texts: xml.replace(b"</sst>", texts + b"</sst>"))
        assert (tmp_path / "data.xlsx").stat().st_size < 2**20
        before = time.process_time()
        assert "save the table as CSV" in problem(benchmark)
        assert time.process_time() - before < 15


def _with_entity(xml: bytes, evil: bytes, entity: bytes) -> bytes:
    return xml.replace(b"<sst", evil).replace(b"<t>", b"<t>" + entity)


def test_entities_in_the_texts_of_all_cells(tmp_path):
    laughs = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    doctype = f'<!DOCTYPE sst [<!ENTITY a "{CANARY}">{laughs}<!ENTITY out SYSTEM "file:///etc/passwd">]>'
    for entity in (b"&i;", b"&out;"):
        evil = doctype.encode() + b"<sst"
        put = partial(_with_entity, evil=evil, entity=entity)
        assert "declares XML entities" in problem(edited(tmp_path, STRINGS, put))


def test_a_length_of_time_in_a_sheet_is_no_cell(tmp_path):
    sheet(tmp_path, HEAD, ("n", "a", datetime.timedelta(hours=30)))
    assert "cell C2: is a length of time" in problem(own(tmp_path, CHAT, data=XLSX))


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
                archive.writestr(name, change(content) if name == "xl/worksheets/sheet1.xml" else content)
        said = problem(own(tmp_path, data=XLSX))
        assert said.startswith("data.xlsx: after row ")
        assert "the Excel file is damaged" in said


@pytest.mark.parametrize("ending", ["jsonl", "json"])
@pytest.mark.parametrize("first", ['"o": {"k": "inner"}, "o.k": "outer"', '"o": {"a": {"b": 1}, "a.b": 2}'])
def test_two_keys_that_are_one_column_do_not_hide_each_other(tmp_path, ending, first):
    line = f'{{"note": "n", "correct_answer": "a", {first}}}'
    text = line if ending == "jsonl" else f"[{line}]"
    benchmark = own(tmp_path, data=f"dataset_file: data.{ending}", **{f"data_{ending}": text})
    assert "one key with dots is the name of another one within an inner object" in problem(benchmark)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=10)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5), st.sampled_from([(read_csv, ","), (read_tsv, "\t")]))
def test_whatever_is_written_by_the_rules_is_read_again(rows, reader):
    import csv

    read, delimiter = reader
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(("a", "b"))
    writer.writerows(rows)
    file.seek(0)
    problems = Problems("x")
    assert [tuple(row.cells.values()) for row in read(file, problems).rows] == rows
    problems.check()


@given(st.lists(st.dictionaries(st.text(min_size=1, max_size=3), st.text(max_size=5), max_size=3), max_size=5))
def test_json_lines_have_the_columns_of_all_rows(objects):
    import json

    objects = [{key.replace(".", "-"): value for key, value in item.items()} for item in objects]
    file = io.StringIO("".join(json.dumps(item) + "\n" for item in objects))
    problems = Problems("x")
    table = read_json_lines(file, problems)
    rows = list(table.rows)
    try:
        json.dumps(objects, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    problems.check()
    assert [row.cells for row in rows] == objects
    assert set(table.columns) == {key for item in objects for key in item}
