"""Read numbers that people enter into forms."""

from agent.errors import ConfigError


def read_whole_number(text: str, label: str, low: int, high: int) -> int:
    """Return a whole number.

    Args:
        text: what was entered.
        label: what it is, as the message calls it, such as "the number of answers".
        low, high: the least and the greatest that is accepted.

    Raises:
        ConfigError: it is something else.
    """
    text = text.strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else low - 1
    if not low <= number <= high:
        raise ConfigError(
            f"{label} must be a whole number from {low} to {high}",
            "Correct it and send the form again.",
        )
    return number
