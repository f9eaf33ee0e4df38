"""Words with one typing error."""


def mistype(word: str, place: int, letter: str, kind: str) -> str:
    """Return a word with one letter more, less, another, or two exchanged."""
    match kind:
        case "more":
            return word[:place] + letter + word[place:]
        case "less":
            return word[:place] + word[place + 1 :]
        case "other":
            return word[:place] + letter + word[place + 1 :]
        case _:
            return word[:place] + word[place : place + 2][::-1] + word[place + 2 :]
