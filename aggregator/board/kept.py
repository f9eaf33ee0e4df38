"""The files of a board that are not derived from its log: earlier releases, and public results shown for comparison.

Both are copied from one published folder to the next, so that each folder can be rebuilt from its
own content.
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
    """The releases and public results of a published folder."""

    releases: Releases = NO_RELEASES
    references: tuple[HelmRelease, ...] = ()

    @property
    def log_sizes(self) -> set[int]:
        """The sizes of the logs that the releases were computed from."""
        return {release.log_size for release in self.releases.entries}

    def check_roots(self, roots: Mapping[int, bytes]) -> None:
        """Check that every release was computed from this log.

        Args:
            roots: The root of the log at each of `log_sizes`.

        Raises:
            BoardMismatchError: names a release of another log.
        """
        for release in self.releases.entries:
            if release.log_size not in roots or roots[release.log_size].hex() != release.log_root:
                raise BoardMismatchError(
                    f"release {release.number} in {RELEASES_FILE} was not computed from this log"
                )


def read_kept(folder: Path) -> Kept:
    """Read the releases and public results of a published folder. Both are empty if the folder does not exist.

    Raises:
        BoardMismatchError: a file is missing or not in canonical form.
    """
    names = [RELEASES_FILE]
    for pattern in (SUMMARY_FILE.format(number="*"), f"{REFERENCE_FOLDER}/*.json"):
        names += [path.relative_to(folder).as_posix() for path in sorted(folder.glob(pattern))]
    files = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    return Kept(parse_releases(files), parse_references(files))


def kept_before(folder: Path, home: Path) -> Kept:
    """Return the releases so far and the public results in `home`, which the next board in `folder` continues.

    Args:
        folder: Folder of the board to replace, if there is one.
        home: The aggregator's directory. It also stores the releases, so that a board in a new
            folder continues them.
    """
    releases = max(
        (read_kept(place).releases for place in (folder, home)),
        key=lambda found: len(found.entries),
    )
    return Kept(releases, read_references(home / REFERENCE_FOLDER))


def stamp_kept(folder: Path) -> tuple[int, ...]:
    """Return numbers that change whenever the releases or public results of a folder change."""
    stamps = []
    for path in (folder / RELEASES_FILE, *sorted((folder / REFERENCE_FOLDER).glob("*.json"))):
        try:
            stamps.append(path.stat().st_mtime_ns)
        except OSError:
            stamps.append(0)  # it does not exist yet or was just removed
    return tuple(stamps)


def keep_releases(home: Path, files: Mapping[str, bytes]) -> None:
    """Copy the releases among a published board's files into the aggregator's directory.

    Raises:
        SettingsError: a file cannot be written.
    """
    releases = parse_releases(files)
    try:
        for name, content in reversed(releases.files().items()):
            path = home / name
            path.parent.mkdir(exist_ok=True)
            # Files are replaced atomically. The list is written last, when every file that it names
            # exists.
            fresh = path.with_name(f".{path.name}.new")
            fresh.write_bytes(content)
            fresh.replace(path)
    except OSError as error:
        raise SettingsError(f"the list of releases cannot be written: {error.strerror}") from None
