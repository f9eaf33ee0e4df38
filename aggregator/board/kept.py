"""The files of a board that its log does not give: the releases before it, and public results shown beside it.

Both are carried from one published folder to the next, so that each folder can be made again from itself alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aggregator.board.helm_release import (
    REFERENCE_FOLDER,
    HelmRelease,
    parse_references,
    read_references,
)
from aggregator.board.releases import (
    NO_RELEASES,
    RELEASES_FILE,
    SUMMARY_FILE,
    Releases,
    parse_releases,
)
from aggregator.errors import BoardMismatchError, SettingsError


@dataclass(frozen=True, slots=True)
class Kept:
    """Releases and public results of a published folder."""

    releases: Releases = NO_RELEASES
    references: tuple[HelmRelease, ...] = ()

    @property
    def log_sizes(self) -> set[int]:
        """The sizes of the logs that the releases were computed from."""
        return {release.log_size for release in self.releases.entries}

    def check_roots(self, roots: Mapping[int, bytes]) -> None:
        """Check that every release is of this log.

        Args:
            roots: of the log at each of `log_sizes`.

        Raises:
            BoardMismatchError: names the release that is not.
        """
        for release in self.releases.entries:
            if release.log_size not in roots or roots[release.log_size].hex() != release.log_root:
                raise BoardMismatchError(
                    f"release {release.number} in {RELEASES_FILE} is not of this log"
                )


def read_kept(folder: Path) -> Kept:
    """Read releases and public results of a published folder; none where there is no folder.

    Raises:
        BoardMismatchError: a file is missing or not in its one form.
    """
    names = [RELEASES_FILE]
    for pattern in (SUMMARY_FILE.format(number="*"), f"{REFERENCE_FOLDER}/*.json"):
        names += [path.relative_to(folder).as_posix() for path in sorted(folder.glob(pattern))]
    files = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    return Kept(parse_releases(files), parse_references(files))


def kept_before(folder: Path, home: Path) -> Kept:
    """Return what the next board in `folder` carries on: the releases so far, and the public results in the home.

    Args:
        folder: of the board that is replaced, if there is one.
        home: the aggregator's directory. It holds the releases too, so that a board in a new folder continues them.
    """
    releases = max(
        (read_kept(place).releases for place in (folder, home)),
        key=lambda found: len(found.entries),
    )
    return Kept(releases, read_references(home / REFERENCE_FOLDER))


def stamp_kept(folder: Path) -> tuple[int, ...]:
    """Return numbers that change when the releases or public results of a folder do."""
    stamps = []
    for path in (folder / RELEASES_FILE, *sorted((folder / REFERENCE_FOLDER).glob("*.json"))):
        try:
            stamps.append(path.stat().st_mtime_ns)
        except OSError:
            stamps.append(0)  # none yet, or just removed
    return tuple(stamps)


def keep_releases(home: Path, files: Mapping[str, bytes]) -> None:
    """Copy the releases among a published board's files into the aggregator's directory.

    Raises:
        SettingsError: they cannot be written.
    """
    releases = parse_releases(files)
    try:
        for name, content in reversed(releases.files().items()):
            path = home / name
            path.parent.mkdir(exist_ok=True)
            # A reader sees the old file or the new one; the list comes last, when all that it names is there.
            fresh = path.with_name(f".{path.name}.new")
            fresh.write_bytes(content)
            fresh.replace(path)
    except OSError as error:
        raise SettingsError(f"the list of releases cannot be written: {error.strerror}") from None
