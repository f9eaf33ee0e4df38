"""An Atom feed of releases (RFC 4287). Links are relative, so that the feed works at any address."""

from xml.sax.saxutils import escape, quoteattr

from aggregator.board.figures import iso_date
from aggregator.board.releases import Release, Releases

FEED_ENTRIES = 50
_START = "1970-01-01"


def write_feed(deployment: str, releases: Releases) -> bytes:
    """Return the feed with the newest FEED_ENTRIES releases, newest first."""
    newest = releases.entries[::-1][:FEED_ENTRIES]
    updated = iso_date(newest[0].day) if newest else _START
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{escape(deployment)}: releases of the board</title>",
        f"<id>{escape(_name(deployment, 'releases'))}</id>",
        f"<updated>{updated}T00:00:00Z</updated>",
        f"<author><name>{escape(deployment)}</name></author>",
        '<link rel="alternate" type="text/html" href="releases.html"/>',
    ]
    for release in newest:
        lines += _write_entry(deployment, release, releases)
    lines.append("</feed>")
    return "\n".join(lines).encode("utf-8") + b"\n"


def _write_entry(deployment: str, release: Release, releases: Releases) -> list[str]:
    has_page = release.number in releases.summaries and release.number - 1 in releases.summaries
    page = f"releases/{release.number}.html" if has_page else "releases.html"
    return [
        "<entry>",
        f"<title>Release {release.number}</title>",
        f"<id>{escape(_name(deployment, f'release-{release.number}'))}</id>",
        f"<updated>{iso_date(release.day)}T00:00:00Z</updated>",
        f'<link rel="alternate" type="text/html" href={quoteattr(page)}/>',
        f"<summary>{release.log_size} log entries, registry version {release.registry}. "
        f"SHA-256 of board.json: {release.board}</summary>",
        "</entry>",
    ]


def _name(deployment: str, thing: str) -> str:
    """Return an identifier that does not depend on the feed's address."""
    return f"urn:intramural:{deployment}:{thing}"
