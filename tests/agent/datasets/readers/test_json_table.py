"""JSON and JSON-lines files that are wrong, and how their values become text."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.datasets.readers.json_table import read_json_lines
from agent.datasets.readers.table import Problems
from agent.errors import BenchmarkError
from tests.agent.datasets.own import own, problem
from tests.agent.datasets.plain_files import load_json_file


@pytest.mark.parametrize(
    ("loader", "text", "said"),
    [
        ("json_lines", '{"q": "x", "a": "y"}\n{"q": "x"\n', "line 2: is not JSON"),
        ("json_lines", '{"q": "x", "a": "y"}\n[1]\n', "line 2: expected a JSON object"),
        ("json_lines", '{"q": "x", "a": "y", "a": "z"}\n', "line 1: an object has a key twice"),
        (
            "json_lines",
            '{"q": "x", "a": "y"}\n{"q": "x", "a": null}\n',
            "line 2: the column 'a' is empty",
        ),
        ("json_lines", '{"q": "x", "a": "y"}\n{"q": "x"}\n', "line 2: the column 'a' is empty"),
        ("json_lines", "", "the whole file: contains none of the columns 'q', 'a'"),
        ("json", "{}", "expected a list of objects"),
        ("json", '{"data": [], "more": []}', "expected a list of objects"),
        ("json", "[1]", "row 1: expected a JSON object"),
        ("json", '[{"q": "x", "a": "y"}', "is not JSON"),
        ("json", "[" * 100_000, "contains values that are nested too deeply"),
    ],
)
def test_json_files_that_are_wrong(tmp_path, loader, text, said):
    with pytest.raises(BenchmarkError) as caught:
        load_json_file(tmp_path, loader, text)
    assert said in str(caught.value)


def test_json_numbers_and_inner_objects_become_text(tmp_path):
    text = json.dumps({"data": [{"q": "x", "a": 1.50, "o": {"A": True}}]}).replace("1.5", "1.50")
    (made,) = load_json_file(tmp_path, "json", text)
    assert made.references[0].text == "1.50"


@pytest.mark.parametrize("ending", ["jsonl", "json"])
@pytest.mark.parametrize(
    "first", ['"o": {"k": "inner"}, "o.k": "outer"', '"o": {"a": {"b": 1}, "a.b": 2}']
)
def test_two_keys_that_are_one_column_do_not_hide_each_other(tmp_path, ending, first):
    line = f'{{"note": "n", "correct_answer": "a", {first}}}'
    text = line if ending == "jsonl" else f"[{line}]"
    benchmark = own(tmp_path, data=f"dataset_file: data.{ending}", **{f"data_{ending}": text})
    assert "a key with dots equals the dotted path of a key in a nested object" in problem(
        benchmark
    )


@given(
    st.lists(
        st.dictionaries(st.text(min_size=1, max_size=3), st.text(max_size=5), max_size=3),
        max_size=5,
    )
)
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
