"""The windows by which an encoder reads a long text."""

from hypothesis import given
from hypothesis import strategies as st

from agent.metrics.encoder import plan_windows


@given(st.integers(0, 3000), st.integers(2, 512))
def test_windows_cover_every_token_once_and_see_around_it(tokens, width):
    windows = plan_windows(tokens, width)
    covered = [token for window in windows for token in range(window.first, window.last)]
    assert covered == list(range(tokens))
    for window in windows:
        assert window.start <= window.first <= window.last <= window.end
        assert window.end - window.start == min(tokens, width)
        # Away from the ends of the text, a token sees about a quarter of the window on either side.
        assert window.start == 0 or window.first - window.start >= width // 4 - 1
        assert window.end == tokens or window.end - window.last >= width // 4 - 1
