"""Texts with disguised words, and their views."""

from hypothesis import strategies as st

from agent.redaction.redacted import Withheld
from agent.redaction.views.views import View, build_views

PIECES = st.one_of(
    st.sampled_from(
        [
            "Holloway", " ", "\n", "J o h n", "S.m.i.t.h", "e\u0301", "\u200b", "\u202eyawolloH\u202c",
            "\U0001f1e6\U0001f1ef", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "484f4c4c4f", "\u0336",
            "\U0001d409", "\ufb01", "\u0430", "\u05d0", "6\ufe0f\u20e3", "&#74;", "%4A", "=4A=6F", "\\u004a", "\\n",
            "SG9sbG93YXk=", "four one two nine ", "<b>", "**", "JohnSmith", "john_smith", "J0hn", "[NAME-1]",
            "rot13: Ubyybjnl", "-\n", "\uac00\u11a8",
        ]
    ),
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12),
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def list_views(text: str) -> tuple[View, ...]:
    """Return the views of a text; none if it is withheld."""
    views = build_views(text)
    return () if isinstance(views, Withheld) else views
