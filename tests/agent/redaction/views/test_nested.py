"""Every text, key and number of a nested value is walked, and put back in its place."""

import json
import re
from itertools import repeat
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.views.nested import texts_in, with_texts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_a_value_whose_texts_stay_is_the_same_value(value: Any):
    assert with_texts(value, texts_in(value)) == value


@given(JSON)
def test_no_text_key_or_number_escapes_the_walk(value: Any):
    written = json.dumps(with_texts(value, repeat("x")))
    assert re.fullmatch(r"[\[\]{},: ]*", re.sub(r'"x( \(\d+\))?"|true|false|null', "", written))
