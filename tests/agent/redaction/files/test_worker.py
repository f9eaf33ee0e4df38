"""A frame between processes is read as it was written."""

import io

from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.files.worker import read_frame, write_frame


@given(
    st.lists(st.binary(max_size=50).map(lambda row: row.replace(b"\n", b"")), max_size=8), st.text()
)
def test_a_frame_is_read_as_it_was_written_and_a_broken_one_not_at_all(
    lines: list[bytes], word: str
):
    stream = io.BytesIO()
    write_frame(stream, {"word": word}, lines)
    whole = stream.getvalue()
    frame = read_frame(io.BytesIO(whole))
    assert frame is not None
    assert (frame[0]["word"], frame[1]) == (word, lines)
    assert read_frame(io.BytesIO(whole[:-1])) is None
