"""The directory with all files of a site, and how to open them.

DIR/site.yaml                 settings
DIR/model_deployments.yaml    where models are served
DIR/judges.yaml               the site's jury, if it has one
DIR/keys/                     data.key, seal.key, agent.key (0600)
DIR/benchmarks/               the hospital's own benchmarks
DIR/plugins/                  the hospital's own metrics in Python, if it has any
DIR/data/<benchmark id>/      dataset files of benchmarks
DIR/data/.frozen/             copies of registered versions of datasets
DIR/store/site.sqlite3        encrypted store
DIR/servers/                  inference servers that the agent starts: tokens, logs
DIR/jobs/                     locks and logs of jobs
DIR/counts/                   what commands counted, for the service's page /metrics
DIR/transfers/                files on their way between browsers and the service
DIR/probes/                   what the capability probe found, by deployment
DIR/submissions/              drafts, approved submissions, receipts
"""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError, StoreError
from agent.io.private_modes import write_private_text
from agent.io.write_advice import advise_on_write
from agent.keys import (
    KeyRole,
    create_data_key,
    create_keys_directory,
    create_seal_key,
    create_signing_key,
    derive_key,
    read_data_key,
    read_seal_key,
)
from agent.store import EVERYTHING, Audience, Store, Vault

if TYPE_CHECKING:
    from agent.metrics.means import Means
    from agent.own_metrics.source import MetricSource
    from agent.site.settings import Settings

DEPLOYMENTS_TEMPLATE = """\
# Where models are served, in HELM's own format. One entry per deployment; names can be chosen freely, such as
# host/model. `base_url` is an OpenAI-compatible server (ideally vLLM); `token_file` is a 0600 file with a bearer token.
model_deployments: []
#  - name: local/qwen2.5-7b-instruct
#    model_name: qwen/qwen2.5-7b-instruct
#    client_spec:
#      class_name: helm.clients.vllm_client.VLLMChatClient
#      args:
#        base_url: http://127.0.0.1:8000/v1      # several servers of this model: base_urls: [URL, URL]
#        vllm_model_name: Qwen/Qwen2.5-7B-Instruct
"""


@dataclass(frozen=True)
class Site:
    """One site directory. Creating this object reads nothing. Settings, keys and store are read when first needed.

    Attributes:
        directory: its folder.
        audience: who works with the site: decides which private runs its store shows.
    """

    directory: Path
    audience: Audience = EVERYTHING

    @cached_property
    def settings(self) -> "Settings":
        """The validated settings of the site. Raises ConfigError."""
        from agent.site.settings import read_settings

        return read_settings(self.directory / "site.yaml")

    def serve(self, audience: Audience) -> "Site":
        """Return the same site, with its settings as they were read, for somebody else."""
        site = replace(self, audience=audience)
        if "settings" in self.__dict__:
            site.__dict__["settings"] = self.settings
        return site

    @property
    def name(self) -> str:
        """The site's name, shown to local users only."""
        return self.settings.site_name

    @property
    def keys(self) -> Path:
        """Folder of the site's private keys."""
        return self.directory / "keys"

    @property
    def data(self) -> Path:
        """Folder of dataset files, with one subfolder per benchmark."""
        return self.directory / "data"

    @property
    def own_benchmarks(self) -> Path | None:
        """Folder of the hospital's own benchmarks; None if the directory is not a site, even if the folder exists."""
        return self.directory / "benchmarks" if (self.directory / "site.yaml").is_file() else None

    @property
    def deployments(self) -> Path:
        """File that lists where models are served."""
        return self.directory / "model_deployments.yaml"

    @property
    def judges(self) -> Path:
        """File of the site's own jury, for benchmarks that name no judges. It may not exist."""
        return self.directory / "judges.yaml"

    @property
    def means(self) -> "Means":
        """Resources for metrics that need more than the answer: processors and, in a site, an encoder and own code."""
        from agent.metrics.means import Means, processors

        if not (self.directory / "site.yaml").is_file():
            return Means(workers=processors())
        model = self.settings.bertscore_model
        return Means(
            model and self.directory / model.expanduser(),
            self.settings.bertscore_layer,
            processors(),
            self.own_metrics,
            self.plugins,
            _print_note,
        )

    @property
    def servers(self) -> Path:
        """Folder of the inference servers that the agent starts. It may not exist."""
        return self.directory / "servers"

    @property
    def plugins(self) -> Path:
        """Folder of the hospital's own metrics in Python. It may not exist."""
        return self.directory / "plugins"

    @property
    def own_metrics(self) -> "tuple[MetricSource, ...]":
        """The hospital's own metrics that the settings enable, whether or not their code is there."""
        from agent.own_metrics.source import MetricSource

        sources = []
        for plugin in self.settings.plugins:
            file = self.directory / plugin.file if plugin.file else None
            shown = plugin.file or plugin.entry_point
            sources.append(MetricSource(plugin.metric_name, plugin.sha256, file, shown))
        return tuple(sources)

    @property
    def jobs(self) -> Path:
        """Folder of the locks and logs of jobs. It may not exist."""
        return self.directory / "jobs"

    @property
    def counts(self) -> Path:
        """Folder in which commands leave what they counted, for the service's page /metrics. It may not exist."""
        return self.directory / "counts"

    @property
    def transfers(self) -> Path:
        """Folder of files on their way between browsers and the service. It may not exist."""
        return self.directory / "transfers"

    @property
    def probes(self) -> Path:
        """Folder of what the capability probe found for each deployment. It may not exist."""
        return self.directory / "probes"

    @property
    def submissions(self) -> Path:
        """Folder of drafts, approved submissions and receipts."""
        return self.directory / "submissions"

    def surrogate_key(self) -> bytes:
        """Return the key from which the surrogates in redacted text are derived, if the policy uses surrogates.

        Raises:
            StoreError: the data key is missing, readable by other accounts, or damaged.
        """
        return derive_key(read_data_key(self.keys / "data.key"), "surrogates/v1")

    def seal_key(self) -> bytes:
        """Return the key from which the keys of the release ledger and of the audit log are derived.

        Raises:
            StoreError: the seal key is missing (as in a site created by an unreleased version), readable by other
                accounts, or damaged.
        """
        return read_seal_key(self.keys / "seal.key")

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the encrypted store, and close it at the end of the `with` block.

        Raises:
            ConfigError: this is not a site directory, or a setting is wrong.
            StoreError: the data key, the seal key or the store is missing, readable by other accounts, or damaged.
        """
        _ = self.settings  # do nothing in a site with a wrong setting
        if not self._store_path.is_file():
            # Do not create an empty store here: its empty audit log would hide that the old one was deleted.
            raise StoreError(
                "the site's store is missing", "Restore the folder store/ from a backup."
            )
        store = self._open_store()
        try:
            yield store
        finally:
            store.close()

    def today_day(self) -> int:
        """Return today's date (UTC) as the number of days since 1970-01-01.

        Raises:
            ClockError: this machine's clock disagrees with what the site has seen.
            StoreError: see `store`.
        """
        with self.store() as store:
            return store.clock.today_day()

    def create_folders(self) -> None:
        """Create the folders that every site has, and that hold nothing at first, where they are missing."""
        for folder in (self.data, self.directory / "benchmarks", self.submissions):
            folder.mkdir(mode=0o700, exist_ok=True)

    def roll_back_store(self) -> tuple[int, int]:
        """Put the store before the last upgrade in the place of a newer one; return the versions of both.

        Raises:
            StoreError: there is nothing to roll back, or another command has the store open.
        """
        from agent.store.database import count_versions
        from agent.store.upgrade import put_back

        return put_back(self._store_path, count_versions())

    @property
    def _store_path(self) -> Path:
        return self.directory / "store" / "site.sqlite3"

    def _open_store(self) -> Store:
        """Open the store, or create it if it does not exist. Fails if the site has no seal key."""
        data_key = read_data_key(self.keys / "data.key")
        audit_key = derive_key(self.seal_key(), "audit-log/v2")
        return Store(self._store_path, Vault(data_key), audit_key, self.audience)


def _print_note(note: str) -> None:
    print(f"note: {note}", file=sys.stderr)


def create_site(directory: Path, site_name: str) -> Site:
    """Create a site directory with new keys, settings and an empty store.

    Raises:
        ConfigError: the directory exists and is not empty.
    """
    from agent.site.settings import Settings, write_settings

    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        occupied = any(directory.iterdir())
    except OSError as error:
        raise ConfigError(
            f"the site directory cannot be created ({error.strerror})", advise_on_write(error)
        ) from None
    if occupied and (directory / "keys").is_dir() and not (directory / "site.yaml").exists():
        raise ConfigError(
            "the directory for the new site is not empty",
            "An earlier `init` did not finish in it, or its site.yaml was deleted. Choose a new directory, or delete "
            "this one if it never was a site.",
        )
    if occupied:
        raise ConfigError(
            "the directory for the new site is not empty",
            "Choose a new or empty directory. Existing keys are never overwritten.",
        )
    os.chmod(directory, 0o700)  # noqa: PTH101 (a single call that does not depend on the umask)
    site = Site(directory)
    create_keys_directory(site.keys)
    create_data_key(site.keys / "data.key")
    create_seal_key(site.keys / "seal.key")
    create_signing_key(site.keys / "agent.key", KeyRole.AGENT)
    site.create_folders()
    write_private_text(site.deployments, DEPLOYMENTS_TEMPLATE)
    with closing(site._open_store()) as store, store.transaction():
        store.clock.stamp()  # so that a clock that is set later is noticed
        store.audit.record("site created", "")
    # Write the settings last, because their presence makes the directory a site.
    write_settings(directory / "site.yaml", Settings.model_validate({"site_name": site_name}))
    return site
