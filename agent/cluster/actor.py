"""What runs on a node: an object that holds what its work needs, such as an engine of redaction.

No exception of the work leaves the node: Ray would write it to its files, and it could quote a text.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from agent.cluster.security import GUIDE, check_encryption, is_private
from agent.errors import ConfigError


class Actor:
    """Holds an object of a class of this package, and passes calls on to it."""

    def __init__(self, module: str, name: str, *arguments: str) -> None:
        """Remember the class and its arguments; the object is made by `open`."""
        self._made_from = (module, name, arguments)
        self._worker: Any = None

    def open(self) -> dict[str, Any]:
        """Check that this node is safe, make the object and open it; return its reply with the id of the node."""
        import ray

        module, name, arguments = self._made_from
        try:
            check_node(ray)
            self._worker = getattr(import_module(module), name)(*arguments)
            reply: dict[str, Any] = self._worker.open()
        except ConfigError as error:
            return {"error": [str(error), error.advice]}
        except Exception as error:  # noqa: BLE001
            return {"error": [f"the work cannot begin there ({type(error).__name__})", None]}
        return {**reply, "node": ray.get_runtime_context().get_node_id()}

    def run(self, *arguments: Any) -> dict[str, Any]:
        """Do one piece of work, and return the reply."""
        try:
            reply: dict[str, Any] = self._worker.run(*arguments)
        except Exception as error:  # noqa: BLE001
            return {"error": [f"the work failed there ({type(error).__name__})", None]}
        return reply


def check_node(ray: Any) -> None:
    """Check that this node asks for a token, speaks TLS unless it is alone, and keeps its files from other accounts.

    Raises:
        ConfigError: it does not.
    """
    if os.environ.get("RAY_AUTH_MODE") != "token":
        raise ConfigError(
            "it was started without RAY_AUTH_MODE=token", f"Start it anew with it. {GUIDE}"
        )
    check_encryption(ray.util.get_node_ip_address(), os.environ)
    if not is_private(Path(ray._private.worker._global_node.get_session_dir_path())):
        raise ConfigError(
            "its session folder can be entered by other accounts",
            f"Start Ray there with --temp-dir in a folder that its account alone can enter. {GUIDE}",
        )
