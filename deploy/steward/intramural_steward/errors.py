"""Errors raised by the steward's tool.

StewardError           base; the command line prints message and advice, and exits with `exit_code`
├── UsageError     2   options that cannot be combined, or a file that cannot be read or written
├── RequestError   3   the file is damaged, signed with a wrong key, or breaks a rule: the site must create another
├── KeyFileError   4   the steward's key or its password is missing, wrong, or too widely readable
├── ListError      5   the list of approvals is damaged, or in use
└── HistoryError   6   the site's history is shorter than, or differs from, the one on the list

Exit code 0 means success, 1 the answer "no" or an unexpected error, 130 interrupted. Messages never
quote passwords or the content of files.
"""

from typing import ClassVar


class StewardError(Exception):
    """Base class of the tool's errors.

    Args:
        message: The problem and its location.
        advice: What the user should do; defaults to the class's advice.
    """

    exit_code: ClassVar[int] = 1
    advice: str = "Nothing was signed."

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        if advice is not None:
            self.advice = advice


class UsageError(StewardError):
    """Options cannot be combined, or a file cannot be read or written."""

    exit_code = 2
    advice = "Nothing was signed. See --help."


class RequestError(StewardError):
    """A file from the site is not valid."""

    exit_code = 3
    advice = "Nothing was signed. Ask the site for another file."


class KeyFileError(StewardError):
    """The steward's key cannot be used."""

    exit_code = 4
    advice = "Nothing was signed. Use the key that was enrolled for this site."


class ListError(StewardError):
    """The list of approvals cannot be used."""

    exit_code = 5
    advice = "Nothing was signed. Restore the list from a backup."


class HistoryError(StewardError):
    """The site's history contradicts the list."""

    exit_code = 6
    advice = (
        "Nothing was signed. Ask the site what happened to its machine: after restoring a backup it starts a new epoch "
        "with a reset request, which you sign with `intramural-steward sign-request`."
    )
