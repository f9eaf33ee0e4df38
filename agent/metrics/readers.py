"""The readers that several families of metrics share: the option of a closed question, and the whole text."""

from agent.metrics.spec import Options
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Reason, Unscored

WHOLE_TEXT = "whole text"
WHOLE_TEXT_RULE = (
    "The metric compares the whole answer, as ROUGE, word F1 and juries do.",
    "Rest, fluids and paracetamol.",
)
"""The meaning of the rule for texts that are compared as they are, and an example."""


def read_whole_text(answer: str, instance: Instance, options: Options) -> Reading | Unscored:  # noqa: ARG001
    """Return the whole answer, without the white space around it."""
    value = answer.strip()
    start = len(answer) - len(answer.lstrip())
    return Reading(value, start, start + len(value), WHOLE_TEXT)


def find_option(answer: str, instance: Instance) -> int | None:
    """Return the index of the option that the answer names, or None if it names none or several."""
    # Imported when first needed, because compiling the patterns takes a tenth of a second.
    from agent.reading.choice import extract_option

    return extract_option(answer, _list_options(instance))


def read_choice_or_text(answer: str, instance: Instance, options: Options) -> Reading | Unscored:
    """Return the letter of the option that the answer names; the whole text if the question has no options."""
    if not instance.multiple_choice:
        return read_whole_text(answer, instance, options)
    from agent.reading.choice import read_option

    return read_option(answer, _list_options(instance)) or Unscored(Reason.UNPARSED)


def _list_options(instance: Instance) -> tuple[str, ...]:
    return tuple(reference.text for reference in instance.references)
