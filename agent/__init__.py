"""The agent: runs inside the hospital network and lets only signed aggregates out.

`from agent import Site` gives the class for notebooks (agent.notebook), which is imported only then.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.notebook import Site

__all__ = ["Site", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import the class for notebooks when it is first asked for, since it brings pandas."""
    if name == "Site":
        from agent.notebook import Site

        return Site
    raise AttributeError(f"module 'agent' has no attribute {name!r}")
