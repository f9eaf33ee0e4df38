"""Read disclosure policies. Without a valid policy, nothing can be submitted."""

import re
from pathlib import Path
from typing import Final

from agent.errors import DisclosureError
from agent.io.packaged import shipped
from agent.io.small_file import read_bytes
from agent.io.strict_yaml import parse_yaml
from protocol.errors import ProtocolError
from protocol.policy import DisclosurePolicy, parse_policy

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
_LONGEST_NAME: Final = 60  # characters of a wrong name that are repeated
_WHOLE: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def read_policy(name: str, site_directory: Path | None = None) -> DisclosurePolicy:
    """Return the policy that `disclosure_policy` in site.yaml names.

    Args:
        name: a shipped policy (`strict`), or the site's own file (`our-policy.yaml`, relative to the site directory).
        site_directory: the site directory.

    Raises:
        DisclosureError: the policy does not exist, or is unreadable, misspelt or incomplete.
    """
    if name.endswith(".yaml") and site_directory is not None:
        file = site_directory / name
        if not file.exists():
            raise DisclosureError(
                f"disclosure_policy in site.yaml: there is no file {name} in the site directory",
                _list_shipped_policies(),
            )
        return read_policy_file(file)
    file = shipped("policies") / "disclosure" / f"{name}.yaml"
    if not _NAME.fullmatch(name) or not file.exists():
        raise DisclosureError(
            f"disclosure_policy in site.yaml: there is no policy {name[:_LONGEST_NAME]}",
            _list_shipped_policies(),
        )
    policy = read_policy_file(file)
    if policy.name != name:
        raise DisclosureError(f"policy {name}.yaml has a different name in its field `name`")
    return policy


def _list_shipped_policies() -> str:
    """Return what can be written in site.yaml instead."""
    files = (shipped("policies") / "disclosure").glob("*.yaml")
    names = ", ".join(sorted(file.stem for file in files))
    return f"Name a policy of the package ({names}), or put your own file ending in .yaml there."


def read_policy_file(path: Path) -> DisclosurePolicy:
    """Read a policy file. Raises DisclosureError with the name of the file and the fault in it."""
    values = parse_yaml(read_bytes(path, DisclosureError), Path(path.name), DisclosureError)
    if not isinstance(values, dict):
        raise DisclosureError(f"policy {path.name}: expected a map of names to values")
    try:
        return parse_policy(
            {name: value if name == "name" else _number(value) for name, value in values.items()}
        )
    except ProtocolError as error:
        raise DisclosureError(f"policy {path.name}: {error.detail}") from None


def _number(value: object) -> object:
    """Convert a text to a whole number; return any other value unchanged, so that the schema refuses it."""
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value
