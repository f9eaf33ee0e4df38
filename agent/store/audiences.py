"""Who reads a store, and which of its runs they see: a run that its owner keeps from others does not exist for them."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Audience:
    """Who reads a store.

    Attributes:
        account: id of the account that reads it, which also owns the runs that it makes; None for no account.
        sees_all: whether private runs of others are visible too, as to someone who works in the site's directory.
    """

    account: str | None = None
    sees_all: bool = False

    def admits(self, owner: str | None, *, is_private: bool) -> bool:
        """Return whether a run with this owner is visible. On the service, nobody sees an ownerless private run."""
        if self.sees_all or not is_private:
            return True
        return self.account is not None and owner == self.account


EVERYTHING: Final = Audience(sees_all=True)
"""Whoever works in the site's directory: the command line, `view` and notebooks."""

PUBLIC: Final = Audience()
"""Nobody in particular: only runs that everyone may see."""
