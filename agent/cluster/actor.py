"""What runs on a node: an object that holds what its work needs, such as an engine of redaction.

No exception of the work leaves the node: Ray would write it to its files, and it could quote a text.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from agent.cluster.security import is_private


class Actor:
    """Holds an object of a class of this package, and passes calls on to it."""

    def __init__(self, module: str, name: str, *arguments: str) -> None:
        """Remember the class and its arguments; the object is made by `open`."""
        self._made_from = (module, name, arguments)
        self._worker: Any = None

    def open(self) -> dict[str, Any]:
        """Check that this node is safe, make the object and open it; return its reply with the id of the node."""
        import ray

        session = Path(ray._private.worker._global_node.get_session_dir_path())
        if os.environ.get("RAY_AUTH_MODE") != "token":
            return {"error": ["it was started without RAY_AUTH_MODE=token", None]}
        if not is_private(session):
            advice = "Start Ray there with --temp-dir in a folder that its account alone can enter."
            return {"error": ["its session folder can be entered by other accounts", advice]}
        module, name, arguments = self._made_from
        try:
            self._worker = getattr(import_module(module), name)(*arguments)
            reply: dict[str, Any] = self._worker.open()
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
