"""Values that stand in a published text beside the record, so that hiding them in an answer would hide nothing."""

import re
from collections.abc import Sequence

_JOINED = re.compile(r"\w")


class PublishedValues:
    """The words and numbers of published texts.

    Args:
        texts: texts that the reader sees unchanged beside the record.
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._text = "\n".join(texts).casefold()

    def hold(self, value: str) -> bool:
        """Return whether the whole value stands in one of the texts, as whole words and in any case of letters."""
        wanted = value.strip().casefold()
        if not wanted or wanted not in self._text:
            return False
        return any(
            not self._is_part_of_word(match.start(), match.end())
            for match in re.finditer(re.escape(wanted), self._text)
        )

    def _is_part_of_word(self, start: int, end: int) -> bool:
        before, after = self._text[start - 1 : start], self._text[end : end + 1]
        first, last = self._text[start], self._text[end - 1]
        return bool(
            (_JOINED.match(before) and _JOINED.match(first))
            or (_JOINED.match(after) and _JOINED.match(last))
        )
