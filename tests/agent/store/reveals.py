"""Original texts that are shown to a person."""

from agent.redaction.gateway.cases import open_clearer
from agent.site.directory import Site


def reveal(site: Site, pages: int) -> None:
    """Show original texts to a person, `pages` times, as `--reveal` does."""
    with site.store() as store:
        clearer = open_clearer(site, store, reveal=True, purpose="view")
        for page in range(pages):
            clearer.clear_records([["Mr Quackenbush, 14 May"]], f"run=1 page={page}")
