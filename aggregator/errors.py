"""Every error the aggregator raises on purpose.

AggregatorError            base; the command line prints message and advice, and leaves with `exit_code`
├── SettingsError      2   a setting, an option or a file given on the command line is wrong
├── KeyFileError       3   a private key file is missing, damaged or readable by others
├── RegistryError      4   the registry cannot be loaded, or the change asked for would make it invalid
├── EnrolmentError     5   an invite, or a request about keys, is refused
├── StoreError         6   the database is missing, of another version, locked or damaged
├── BoardMismatchError 1   a published board is not what its own log says; nothing of it should be trusted
└── UnauditedBoardError 7  all that the public can recompute is right, but too few auditors vouch for the rest

Exit code 0 is success, 1 also an unexpected error. Refused submissions are not errors of this tree: they are
`protocol.errors.ProtocolError`, and the client sees their code alone.
"""

from typing import ClassVar


class AggregatorError(Exception):
    """Base of every error the aggregator raises on purpose.

    Args:
        message: what is wrong and where (file, key, version).
        advice: what the reader should do; defaults to the class's advice.
    """

    exit_code: ClassVar[int] = 1
    advice: str = "Run `intramural-aggregator --help`."

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        if advice is not None:
            self.advice = advice


class SettingsError(AggregatorError):
    """A setting, an option or a file given on the command line is wrong."""

    exit_code = 2
    advice = "Correct the file or option named above and run the command again."


class KeyFileError(AggregatorError):
    """A private key file is missing, damaged or readable by others."""

    exit_code = 3
    advice = "Restore the key from its back-up, or set its permissions to 0600 (owner only)."


class RegistryError(AggregatorError):
    """The registry cannot be loaded, or the change asked for would make it invalid."""

    exit_code = 4
    advice = "Nothing was changed."


class EnrolmentError(AggregatorError):
    """An invite, or a request to enrol, to replace a key or to start a new epoch, is refused."""

    exit_code = 5
    advice = "Nothing was changed. Send the site a new invite with `intramural-aggregator invite`."


class StoreError(AggregatorError):
    """The database is missing, of another version, locked or damaged."""

    exit_code = 6
    advice = "Check that the directory is right and its disk has room, or restore the database from a back-up."


class BoardMismatchError(AggregatorError):
    """A published board is not what its own log says."""

    exit_code = 1
    advice = (
        "Do not trust this board; fetch it again from its origin and tell the people who run it."
    )


class UnauditedBoardError(AggregatorError):
    """All that the public can recompute of a board is right, but too few auditors have signed for the rest."""

    exit_code = 7
    advice = (
        "Cells that are not marked as resting on auditors are recomputed and right. Ask the people who run the board "
        "for the auditors' signatures before you rely on the others."
    )
