"""Extract the texts of nested JSON (every text, key and number), and rebuild the same value with other texts."""

from collections.abc import Callable, Iterator

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def texts_in(value: Json) -> Iterator[str]:
    """Yield every text, key and number of `value`, in order; numbers are yielded as JSON writes them.

    Raises:
        RecursionError: `value` is nested too deeply.
    """
    match value:
        case str():
            yield value
        case bool() | None:
            pass
        case int() | float():
            yield repr(value)
        case list():
            for item in value:
                yield from texts_in(item)
        case dict():
            for key, item in value.items():
                yield key
                yield from texts_in(item)


def with_texts(value: Json, texts: Iterator[str]) -> Json:
    """Return `value` with its texts replaced in the order of `texts_in`.

    A number whose text is unchanged remains a number. When two keys become equal, the later one gets a numeric suffix.

    Raises:
        RecursionError: `value` is nested too deeply.
    """
    match value:
        case str():
            return next(texts)
        case bool() | None:
            return value
        case int() | float():
            text = next(texts)
            return value if text == repr(value) else text
        case list():
            return [with_texts(item, texts) for item in value]
        case dict():
            written: dict[str, Json] = {}
            for item in value.values():
                key = _make_unique(next(texts), written.__contains__)
                written[key] = with_texts(item, texts)
            return written


def _make_unique(key: str, taken: Callable[[str], bool]) -> str:
    if not taken(key):
        return key
    number = 2
    while taken(f"{key} ({number})"):
        number += 1
    return f"{key} ({number})"
