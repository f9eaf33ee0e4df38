"""Errors of the release tools.

ReleaseError           base; the command line prints message and advice, and exits with 1
├── LockError          a lock is damaged, missing or out of date
├── LicenceError       a package's licence is not permitted
├── ChecksumError      a list of checksums is forged, or a file differs from it
└── KitError           a kit cannot be built from what was given
"""


class ReleaseError(Exception):
    """Base class of the release tools' errors.

    Args:
        message: what is wrong and where.
        advice: what the reader should do; defaults to the class's advice.
    """

    advice: str = "Nothing was released."

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        if advice is not None:
            self.advice = advice


class LockError(ReleaseError):
    """A lock is damaged, missing or out of date."""

    advice = "Make the locks anew with `make locks` and commit them."


class LicenceError(ReleaseError):
    """A package's licence is not permitted."""

    advice = "Do without the package, or enter it in licences.py with the reason for which it may be used."


class ChecksumError(ReleaseError):
    """A list of checksums is forged, or a file differs from it."""

    advice = "Use nothing of it. Get the files again, and the key's fingerprint by another way."


class KitError(ReleaseError):
    """A kit cannot be built from what was given."""

    advice = "No kit was made."
