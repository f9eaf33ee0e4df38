"""Reads disclosure policies. One that is missing, unreadable or not exactly as the schema demands: nothing leaves."""

import re
from pathlib import Path
from typing import Final

import yaml

from agent.errors import DisclosureError
from agent.shipped import shipped
from protocol.errors import ProtocolError
from protocol.policy import DisclosurePolicy, parse_policy

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
_LARGEST: Final = 64 * 1024  # bytes


def read_policy(name: str, site_directory: Path | None = None) -> DisclosurePolicy:
    """Return the policy that `disclosure_policy` in site.yaml names.

    Args:
        name: a shipped profile (`strict`), or a file of the site's own (`our-policy.yaml`, relative to the site).
        site_directory: where the site's own file lies.

    Raises:
        DisclosureError: there is none of that name, or it is unreadable, misspelt or incomplete.
    """
    if name.endswith(".yaml") and site_directory is not None:
        return read_policy_file(site_directory / name)
    if not _NAME.fullmatch(name):
        raise DisclosureError("disclosure_policy in site.yaml is not the name of a policy")
    policy = read_policy_file(shipped("policies") / "disclosure" / f"{name}.yaml")
    if policy.name != name:
        raise DisclosureError(f"policy {name}.yaml calls itself by another name")
    return policy


def shipped_policies() -> dict[str, DisclosurePolicy]:
    """Return the profiles that travel with the agent, by name. Raises DisclosureError."""
    paths = sorted((shipped("policies") / "disclosure").glob("*.yaml"))
    return {path.stem: read_policy(path.stem) for path in paths}


def read_policy_file(path: Path) -> DisclosurePolicy:
    """Read one file. Raises DisclosureError, naming the file and what is wrong with it."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise DisclosureError(f"policy {path.name} cannot be read ({error.strerror})") from None
    if len(content) > _LARGEST:
        raise DisclosureError(f"policy {path.name} is longer than {_LARGEST} bytes")
    try:
        return parse_policy(_flat_map(content))
    except _NotFlatError as error:
        raise DisclosureError(f"policy {path.name}: {error}") from None
    except ProtocolError as error:
        raise DisclosureError(f"policy {path.name}: {error.detail}") from None


class _NotFlatError(Exception):
    pass


def _flat_map(content: bytes) -> dict[str, object]:
    """Return the file's names and values; YAML would let a second value for a name win silently."""
    try:
        node = yaml.compose(content.decode("utf-8"), Loader=yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode):
            raise _NotFlatError("expected a map of names to values")
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(names) != len(node.value) or any(not isinstance(value, yaml.ScalarNode) for _, value in node.value):
            raise _NotFlatError("expected one plain value for each name")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise _NotFlatError(f"{', '.join(twice)} is given twice")
        values = yaml.SafeLoader("").construct_document(node)
    except UnicodeDecodeError:
        raise _NotFlatError("not UTF-8") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        raise _NotFlatError("not valid YAML" + (f" at line {mark.line + 1}" if mark else "")) from None
    return {str(name): value for name, value in values.items()}
