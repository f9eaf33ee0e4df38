"""Names of models as people write them: whole, in other letters, or only the last part. Pure."""

from collections.abc import Iterable


def find_models(written: str, model_names: Iterable[str]) -> list[str]:
    """Return the models that a name means.

    That is the model of this name; or else those whose names differ only in the case of letters; or else those whose
    last part it is, behind the organisation.
    """
    names = sorted(set(model_names))
    if written in names:
        return [written]
    folded = written.casefold()
    by_case = [name for name in names if name.casefold() == folded]
    return by_case or [name for name in names if name.rpartition("/")[2].casefold() == folded]
