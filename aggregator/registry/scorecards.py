"""The scorecards shipped with the program, which can be registered by name."""

from pathlib import Path

from aggregator.errors import SettingsError


def shipped_scorecards() -> dict[str, Path]:
    """Return the file of every shipped scorecard, by name. Raises SettingsError if this installation has none."""
    package = Path(__file__).resolve().parents[1]
    in_wheel = package / "shipped" / "scorecards"
    folder = in_wheel if in_wheel.is_dir() else package.parent / "scorecards"
    found = {path.stem: path for path in sorted(folder.glob("*.json"))}
    if not found:
        raise SettingsError(
            "this installation contains no scorecards", "Install the program again."
        )
    return found
