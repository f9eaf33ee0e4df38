"""Lists of words and phrases, written as one text."""


def values(text: str) -> tuple[str, ...]:
    """Return what stands between the bars of `text`."""
    return tuple(text.split("|"))
