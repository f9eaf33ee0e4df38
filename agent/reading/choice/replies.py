"""Load the words that mean yes, no or maybe in other languages and in everyday English: "oui", "nein", "yep"."""

from functools import lru_cache
from pathlib import Path

from agent.errors import ConfigError
from agent.io.yaml_map import read_yaml

_PATH = Path(__file__).with_name("replies.yaml")
_MEANINGS = ("yes", "no", "maybe")


@lru_cache(1)
def load_replies() -> dict[str, str]:
    """Return "yes", "no" or "maybe" for each word, in lower case.

    Raises:
        ConfigError: the file is missing or wrong, or a word has two meanings.
    """
    data = read_yaml(_PATH, ConfigError)
    meanings: dict[str, str] = {}
    for meaning in _MEANINGS:
        for word in data.names(f"{meaning}_replies"):
            if word in meanings:
                data.note(f"{meaning}_replies", f"{word} means {meanings[word]} too")
            meanings[word] = meaning
    data.finish()
    if data.problems:
        raise ConfigError(f"{_PATH}: {'; '.join(data.problems)}")
    return meanings
