"""Keys and names of a YAML file: unknown ones, hidden characters, and records taken for keys."""

import pytest

from agent.catalog.benchmark import load_benchmark
from tests.agent.catalog.definitions import GOOD, definition, refused


def test_an_unknown_key_with_the_nearest_one(tmp_path):
    said = refused(definition(tmp_path, GOOD + "max_token: 5\nmertics: []\n"))
    assert "max_token: unknown key (did you mean 'max_tokens'?)" in said
    assert "mertics: unknown key (did you mean 'metrics'?)" in said


@pytest.mark.parametrize(
    "bad", ["\\e[31m", "\\r", "\\n", "\\u202e", "\\u200b", "\\u2028", "\\x9b", "\\0", "\\x7f"]
)
@pytest.mark.parametrize("key", ["name", "display_name", "unit", "lineage", "aliases", "arguments"])
def test_names_that_a_terminal_would_obey(tmp_path, key, bad):
    value = f'["a{bad}b"]' if key in ("aliases", "arguments") else f'"a{bad}b"'
    text = (
        GOOD.replace("name: own", f"name: {value}") if key == "name" else GOOD + f"{key}: {value}\n"
    )
    said = refused(definition(tmp_path, text))
    assert f"{key}: " in said
    assert said.replace("\n", "").isprintable()


def test_names_without_end_and_longer_texts_with_controls(tmp_path):
    assert "display_name: has 201 char" in refused(
        definition(tmp_path, GOOD + f"display_name: {'x' * 201}\n")
    )
    assert "licence: contains U+001B" in refused(definition(tmp_path, GOOD + 'licence: "\\e[2J"\n'))
    assert "a key contains U+001B" in refused(definition(tmp_path, GOOD + '"\\e[2J": x\n'))
    good = definition(tmp_path, GOOD + 'licence: "two\\n\\tlines"\ndisplay_name: Größe 中文 µg\n')
    assert load_benchmark(good).licence == "two\n\tlines"


def test_a_file_of_records_taken_for_a_definition_is_not_quoted(tmp_path):
    said = refused(
        definition(tmp_path, "Margarethe Oberhuber: seen in May\nMr. Quill: seen in June\n")
    )
    assert "2 keys are not of the form of a key" in said
    assert "Oberhuber" not in said
    said = refused(definition(tmp_path, "Margarethe Oberhuber: May\nMargarethe Oberhuber: June\n"))
    assert "line 2: a key is given twice" in said
    assert "Oberhuber" not in said
