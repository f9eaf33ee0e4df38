"""Paths of this service that come from outside, such as the page to go to after the sign-in; and one that all need."""

from typing import Final

NEW_PASSWORD: Final = "/account/new-password"  # noqa: S105 - the path of a page
"""Where someone chooses another password in place of the one that somebody else chose."""


def choose_local_path(wanted: str) -> str:
    """Return the page of this service that was wanted; the start page in place of an address elsewhere."""
    is_here = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_here and wanted.isprintable() else "/"
