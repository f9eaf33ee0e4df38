"""The disclosure policies shipped with the program, with which a new deployment's registry starts."""

from pathlib import Path

from aggregator.errors import SettingsError
from aggregator.strict_yaml import read_yaml
from protocol.errors import ProtocolError
from protocol.policy import DisclosurePolicy, parse_policy

DEFAULT_FLOOR = "strict"


def shipped_policies() -> dict[str, DisclosurePolicy]:
    """Read every shipped disclosure policy, by name.

    Raises:
        SettingsError: there is no policy, or a file is not a policy.
    """
    package = Path(__file__).resolve().parents[1]
    in_wheel = package / "shipped" / "policies" / "disclosure"
    folder = in_wheel if in_wheel.is_dir() else package.parent / "policies" / "disclosure"
    policies = [read_policy(path) for path in sorted(folder.glob("*.yaml"))]
    if not policies:
        raise SettingsError(
            "this installation contains no disclosure policies", "Install the program again."
        )
    return {policy.name: policy for policy in policies}


def read_policy(path: Path) -> DisclosurePolicy:
    """Read one policy file. Raises SettingsError."""
    try:
        return parse_policy(read_yaml(path).value)
    except ProtocolError as error:
        raise SettingsError(f"{path.name} is not a disclosure policy: {error.detail}") from None
