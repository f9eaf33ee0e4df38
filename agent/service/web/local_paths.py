"""Paths of this service that come from outside, such as the page to go to after the sign-in."""


def choose_local_path(wanted: str) -> str:
    """Return the page of this service that was wanted; the start page in place of an address elsewhere."""
    is_here = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_here and wanted.isprintable() else "/"
