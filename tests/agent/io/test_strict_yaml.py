"""YAML that would fill the memory or mean two things is refused; texts come back as they were."""

import itertools
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import BenchmarkError
from agent.io.strict_yaml import parse_yaml
from agent.io.wording import find_unseen
from tests.agent.catalog.definitions import definition, refused

LAUGHS = 'a: &a ["x","x","x","x","x","x","x","x","x"]\n' + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in itertools.pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "line 1: anchors and aliases are not supported"),
        ("a: *x\n", "line 1: anchors and aliases are not supported"),
        ("x: &x {<<: *x}\n", "line 1: anchors and aliases are not supported"),
        ("a: !!python/object/apply:os.system [id]\n", "line 1: tags are not supported"),
        ("a:\n  b: {c: 1, c: 2}\n", "line 2: the key 'c' is given twice"),
        ("? [a]\n: b\n", "line 1: a key is not text"),
        ("a: 1\n---\na: 2\n", "line 2: expected a single document"),
        ("[" * 200_000, "line 1: values are nested more than 20 levels deep"),
        ("a: " + "{b: " * 200_000, "line 1: values are nested more than 20 levels deep"),
        ("name: " + "x" * 2**20, "larger than 1048576 bytes"),
    ],
    ids=[
        "laughs",
        "alias",
        "merge",
        "tag",
        "key-twice",
        "key-list",
        "documents",
        "lists",
        "maps",
        "size",
    ],
)
def test_yaml_that_would_fill_the_memory_or_mean_two_things(tmp_path, text, said):
    before = time.process_time()
    assert said in refused(definition(tmp_path, text))
    assert time.process_time() - before < 1


class WholeDumper(yaml.SafeDumper):
    """Writes a value that it meets twice twice, without an alias."""

    def ignore_aliases(self, data):
        return True


texts = st.text(st.characters(codec="utf-8"), max_size=8)
keys = texts.filter(lambda key: not find_unseen(key))


@given(
    st.recursive(
        texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=20,
    )
)
def test_whatever_yaml_writes_of_texts_is_read_again(value):
    written = yaml.dump(value, Dumper=WholeDumper, allow_unicode=True)
    assert parse_yaml(written.encode(), Path("x"), BenchmarkError) == value
