"""CSV and TSV files as accidents leave them: every problem is named with its row, and never with a cell's text."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.datasets.readers.csv_table import read_csv, read_tsv
from agent.datasets.readers.table import Problems
from tests.agent.datasets.own import CANARY, instances, own, problem
from tests.agent.datasets.plain_files import HEAD, load_own, refusal, write_own
from tests.agent.datasets.readers.table_files import TSV


def test_text_that_looks_like_a_number_or_a_gap_stays_text(tmp_path):
    data = HEAD + "NA,1,True\nnan,007,1\nnull,1e3,None\n"
    made = load_own(write_own(tmp_path, data))
    assert [i.references[0].text for i in made] == ["True", "1", "None"]
    assert [i.messages[0].content.split("\n")[:2] for i in made] == [
        ["NA", "1"],
        ["nan", "007"],
        ["null", "1e3"],
    ]


def test_quoted_cells_over_several_lines_with_commas_and_quotes(tmp_path):
    data = HEAD + '"line 1\nline 2, still\r\n""quoted""",q,a\n'
    (instance,) = load_own(write_own(tmp_path, data))
    assert instance.messages[0].content.startswith('line 1\nline 2, still\r\n"quoted"\nq')


def test_byte_order_mark_windows_line_ends_and_blank_lines(tmp_path):
    data = b"\xef\xbb\xbf" + HEAD.encode().replace(b"\n", b"\r\n") + b"n,q,a\r\n\r\nn2,q2,a2\r\n"
    assert len(load_own(write_own(tmp_path, data))) == 2


def test_every_problem_of_a_file_at_once(tmp_path):
    data = HEAD + f",q,a\n{CANARY},q,\nn,q\nn,q,a,{CANARY}\nn,q,a\n"
    said = refusal(write_own(tmp_path, data))
    assert "row 1 (line 2): the column 'note' is empty" in said
    assert "row 2 (line 3): the column 'correct_answer' is empty" in said
    assert "row 3 (line 4): has 2 fields, but the header has 3" in said
    assert "row 4 (line 5): has 4 fields, but the header has 3" in said
    assert "row 5" not in said


def test_rows_are_counted_by_lines_even_after_long_cells(tmp_path):
    data = HEAD + '"a\nb\nc",q,a\nn,q,\n'
    assert "row 2 (line 5): the column 'correct_answer' is empty" in refusal(
        write_own(tmp_path, data)
    )


def test_a_quote_that_is_never_closed(tmp_path):
    data = HEAD + f'n,q,a\n"{CANARY},q,a\nn,q,a\n'
    assert "row 2 (line 3): a quote is opened but never closed" in refusal(
        write_own(tmp_path, data)
    )


def test_text_after_a_closing_quote(tmp_path):
    assert "row 1 (line 2): a closing quote" in refusal(write_own(tmp_path, HEAD + '"n"x,q,a\n'))


def test_an_empty_file_and_a_file_without_rows(tmp_path):
    assert "expected a header line" in refusal(write_own(tmp_path, ""))
    assert "no rows" in refusal(write_own(tmp_path, HEAD))


def test_semicolons_instead_of_commas(tmp_path):
    assert "only one column; save the file with commas" in refusal(
        write_own(tmp_path, "note;question\nn;q\n")
    )


def test_a_cell_of_gigantic_length_is_refused(tmp_path):
    data = HEAD + '"' + "x" * (17 * 2**20) + '",q,a\n'
    assert "row 1 (line 2): is longer than 16777216 characters" in refusal(
        write_own(tmp_path, data)
    )
    data = HEAD + '"' + ("x" * 2**20 + "\n") * 17 + '",q,a\n'
    assert "a cell is longer than" in refusal(write_own(tmp_path, data))


def test_tabs_between_columns_and_quotes_around_lines(tmp_path):
    text = 'note\tcorrect_answer\n"line 1\nline 2\twith a tab"\tNA\nb, c\t1\n'
    made = instances(own(tmp_path, data=TSV, data_tsv=text))
    assert [i.messages[0].content for i in made] == ["line 1\nline 2\twith a tab", "b, c"]
    assert [i.references[0].text for i in made] == ["NA", "1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("note,correct_answer\nn,a\n", "only one column; save the file with tabs"),
        ("note\tcorrect_answer\nn\n", "row 1 (line 2): has 1 field, but the header has 2"),
        (
            f'note\tcorrect_answer\n"{CANARY}\ta\n',
            "row 1 (line 2): a quote is opened but never closed",
        ),
        (
            "note\tnote\tcorrect_answer\nn\tn\ta\n",
            "the column 'note' occurs more than once: columns 1, 2",
        ),
        ("", "expected a header line"),
    ],
)
def test_tab_separated_files_that_are_wrong(tmp_path, text, said):
    assert said in problem(own(tmp_path, data=TSV, data_tsv=text))


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=10)


@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=5),
    st.sampled_from([(read_csv, ","), (read_tsv, "\t")]),
)
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
