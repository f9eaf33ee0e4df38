"""The errors that the agent raises.

AgentError                 base; the command line prints message and advice, and exits with `exit_code`
├── ConfigError        2   a setting, option or run entry is wrong: the operator corrects it
├── BenchmarkError     3   a benchmark folder or dataset file is wrong: its author corrects the named file and row
├── InferenceError     4   the model server failed or lacks a feature: repair the server and run again
├── RedactionError     5   text could not be redacted safely: nothing is shown
├── DisclosureError    6   the gate refuses: nothing leaves the site
├── DeliveryError      7   the aggregator could not be reached or refused: the submission is kept
├── StoreError         8   a key or the store is missing, too widely readable, or damaged
└── SignInRefusedError, ProviderError  1  someone is not let in to the service (agent/access/refusals.py)

Exit code 0 means success, 1 an unexpected error, 9 failures that left instances unscored or runs unstarted.
Messages never quote a prompt, an answer, a record or a server's reply to one, which may contain patients' text.
"""

from typing import ClassVar


class AgentError(Exception):
    """Base class of the agent's errors.

    Args:
        message: what is wrong and where (file, row, key), without any text from a record.
        advice: what the reader should do; defaults to the class's advice.
    """

    exit_code: ClassVar[int] = 1
    advice: str = "Run `intramural doctor`."

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        if advice is not None:
            self.advice = advice


class ConfigError(AgentError):
    """A setting, an option or a run entry is wrong."""

    exit_code = 2
    advice = "Correct the setting named above and run the command again."


class BenchmarkError(AgentError):
    """A benchmark folder or a dataset file is wrong."""

    exit_code = 3
    advice = "Correct the file named above; none of it was used."


class InferenceError(AgentError):
    """The model server failed or does not support a feature that the run needs."""

    exit_code = 4
    advice = "Check the server with `intramural doctor`, then run the same command again: stored answers are kept."


class RedactionError(AgentError):
    """Text could not be redacted safely, so it is not shown."""

    exit_code = 5
    advice = "Nothing was shown. Check the redaction policy with `intramural doctor`."


class DisclosureError(AgentError):
    """The disclosure gate refuses: nothing leaves the site."""

    exit_code = 6
    advice = "Nothing left the site. Read the verdicts with `intramural submission show`."


class DeliveryError(AgentError):
    """The aggregator could not be reached or refused the submission, which stays stored."""

    exit_code = 7
    advice = "The submission is kept. Try `intramural submission send` again later."


class StoreError(AgentError):
    """A key or the encrypted store is missing, too widely readable, locked or damaged."""

    exit_code = 8
    advice = "Check the site directory's owner and permissions, or restore it from a backup."


class BusyError(StoreError):
    """Another command is using a resource that this one needs; trying again later is enough."""


class ClockError(StoreError):
    """The machine's clock disagrees with the times that the site has seen, so that no time can be relied on."""

    advice = (
        "Set the machine's clock (UTC) and run the command again. If it is right now and was wrong before, "
        "`intramural clock show` says what to do."
    )
