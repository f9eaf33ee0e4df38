"""Errors raised by the aggregator.

AggregatorError            base; the command line prints message and advice, and exits with `exit_code`
├── SettingsError      2   a setting, a command-line option or an input file is wrong
├── KeyFileError       3   a private key file is missing, damaged or readable by others
├── RegistryError      4   the registry cannot be loaded, or the requested change would make it invalid
├── EnrolmentError     5   an invite, or a request concerning keys, is refused
├── StoreError         6   the database is missing, of another version, locked or damaged
├── BoardMismatchError 1   a published board does not match its own log and should not be trusted
└── UnauditedBoardError 7  the public part of a board is correct, but too few auditors vouch for the rest

Exit code 0 means success; exit code 1 is also used for unexpected errors. Refused submissions are
not part of this hierarchy: they are `protocol.errors.ProtocolError`, of which the client sees only
the code.
"""

from typing import ClassVar


class AggregatorError(Exception):
    """Base class of the aggregator's errors.

    Args:
        message: The problem and its location (file, key, version).
        advice: What the user should do; defaults to the class's advice.
    """

    exit_code: ClassVar[int] = 1
    advice: str = "Run `intramural-aggregator --help`."

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        if advice is not None:
            self.advice = advice


class SettingsError(AggregatorError):
    """A setting, a command-line option or an input file is wrong."""

    exit_code = 2
    advice = "Correct the file or option named above and run the command again."


class KeyFileError(AggregatorError):
    """A private key file is missing, damaged or readable by others."""

    exit_code = 3
    advice = "Restore the key from its backup, or set its permissions to 0600 (owner only)."


class RegistryError(AggregatorError):
    """The registry cannot be loaded, or the requested change would make it invalid."""

    exit_code = 4
    advice = "Nothing was changed."


class EnrolmentError(AggregatorError):
    """An invite, or a request to enrol, replace a key or start a new epoch, is refused."""

    exit_code = 5
    advice = "Nothing was changed. Send the site a new invite with `intramural-aggregator invite`."


class StoreError(AggregatorError):
    """The database is missing, of another version, locked or damaged."""

    exit_code = 6
    advice = "Check that the directory is correct and its disk has free space, or restore the database from a backup."


class BoardMismatchError(AggregatorError):
    """A published board does not match its own log."""

    exit_code = 1
    advice = (
        "Do not trust this board. Fetch it again from its source and inform the people who run it."
    )


class UnauditedBoardError(AggregatorError):
    """The public part of a board is correct, but too few auditors have signed for the rest."""

    exit_code = 7
    advice = (
        "Cells that are not marked as relying on auditors were recomputed and are correct. Ask the people who run the "
        "board for the auditors' signatures before you use the others."
    )
