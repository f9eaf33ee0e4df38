"""A site directory: where everything of one site lies, and how it is opened.

DIR/site.yaml                 settings
DIR/model_deployments.yaml    where models are served
DIR/judges.yaml               the site's jury, if it has one
DIR/keys/                     data.key, seal.key, agent.key (0600)
DIR/benchmarks/               the hospital's own benchmarks
DIR/data/<benchmark id>/      dataset files of benchmarks
DIR/data/.frozen/             copies of their registered versions
DIR/store/site.sqlite3        encrypted store
DIR/submissions/              drafts, approved submissions, receipts
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError, StoreError
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
from agent.store import Store, Vault

if TYPE_CHECKING:
    from agent.metrics.means import Means
    from agent.site.settings import Settings

DEPLOYMENTS_TEMPLATE = """\
# Where models are served, in HELM's own form. One entry a deployment; names are free, usually host/model.
# `base_url` is an OpenAI-compatible server (vLLM first); `token_file` names a 0600 file with a bearer token.
model_deployments: []
#  - name: local/qwen2.5-7b-instruct
#    model_name: qwen/qwen2.5-7b-instruct
#    client_spec:
#      class_name: helm.clients.vllm_client.VLLMChatClient
#      args:
#        base_url: http://127.0.0.1:8000/v1
#        vllm_model_name: Qwen/Qwen2.5-7B-Instruct
"""


@dataclass(frozen=True)
class Site:
    """One site directory. Opening it reads nothing; settings, keys and store are read when first needed."""

    directory: Path

    @cached_property
    def settings(self) -> "Settings":
        """The site's settings, checked. Raises ConfigError."""
        from agent.site.settings import read_settings

        return read_settings(self.directory / "site.yaml")

    @property
    def name(self) -> str:
        """The site's name, for people on site."""
        return self.settings.site_name

    @property
    def keys(self) -> Path:
        """Folder of the site's private keys."""
        return self.directory / "keys"

    @property
    def data(self) -> Path:
        """Folder of dataset files, one folder a benchmark."""
        return self.directory / "data"

    @property
    def own_benchmarks(self) -> Path | None:
        """Folder of the hospital's own benchmarks; None where there is no site, whatever lies in the directory."""
        return self.directory / "benchmarks" if (self.directory / "site.yaml").is_file() else None

    @property
    def deployments(self) -> Path:
        """The file that says where models are served."""
        return self.directory / "model_deployments.yaml"

    @property
    def judges(self) -> Path:
        """The file of the site's own jury, for benchmarks that name no judges; it need not be there."""
        return self.directory / "judges.yaml"

    @property
    def means(self) -> "Means":
        """What metrics that are measured later may use here; nothing but processors where there is no site."""
        from agent.metrics.means import Means, processors

        if not (self.directory / "site.yaml").is_file():
            return Means(workers=processors())
        model = self.settings.bertscore_model
        return Means(
            model and self.directory / model.expanduser(),
            self.settings.bertscore_layer,
            processors(),
        )

    @property
    def submissions(self) -> Path:
        """Folder of drafts, approved submissions and receipts."""
        return self.directory / "submissions"

    def surrogate_key(self) -> bytes:
        """Return the key that decides what stands for a value in redacted text, where the policy wants surrogates.

        Raises:
            StoreError: the data key is missing, too widely readable, or damaged.
        """
        return derive_key(read_data_key(self.keys / "data.key"), "surrogates/v1")

    def seal_key(self) -> bytes:
        """Return the key that the keys of the release ledger and of the audit log derive from.

        Raises:
            StoreError: the seal key is missing (as in a site of an unreleased version), too widely readable, or
                damaged.
        """
        return read_seal_key(self.keys / "seal.key")

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the encrypted store for the length of a `with` block.

        Raises:
            ConfigError: this is no site directory, or a setting is wrong.
            StoreError: the data key, the seal key or the store is missing, too widely readable, or damaged.
        """
        _ = self.settings  # a site with a wrong setting does nothing
        if not self._store_path.is_file():
            # An empty store in its place would have an empty audit log, which nobody could tell from a deleted one.
            raise StoreError(
                "the site's store is missing", "Restore the folder store/ from a back-up."
            )
        store = self._open_store()
        try:
            yield store
        finally:
            store.close()

    @property
    def _store_path(self) -> Path:
        return self.directory / "store" / "site.sqlite3"

    def _open_store(self) -> Store:
        """Open the store, or make it where there is none. Fails without a seal key, as in a site made earlier."""
        data_key = read_data_key(self.keys / "data.key")
        audit_key = derive_key(self.seal_key(), "audit-log/v2")
        return Store(self._store_path, Vault(data_key), audit_key)


def create_site(directory: Path, site_name: str) -> Site:
    """Make a site directory with fresh keys, settings and an empty store.

    Raises:
        ConfigError: the directory exists and is not empty.
    """
    from agent.site.settings import Settings, write_settings

    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        occupied = any(directory.iterdir())
    except OSError as error:
        raise ConfigError(f"the site directory cannot be made ({error.strerror})") from None
    if occupied:
        raise ConfigError(
            "the directory for the new site is not empty",
            "Choose a new directory; keys are never overwritten.",
        )
    os.chmod(directory, 0o700)  # noqa: PTH101 (one call whatever the umask)
    site = Site(directory)
    create_keys_directory(site.keys)
    create_data_key(site.keys / "data.key")
    create_seal_key(site.keys / "seal.key")
    create_signing_key(site.keys / "agent.key", KeyRole.AGENT)
    for folder in (site.data, directory / "benchmarks", site.submissions):
        folder.mkdir(mode=0o700)
    site.deployments.write_text(DEPLOYMENTS_TEMPLATE, "utf-8")
    with closing(site._open_store()) as store:
        store.audit.record("site created", "")
    # Last, because its presence makes the directory a site.
    write_settings(directory / "site.yaml", Settings.model_validate({"site_name": site_name}))
    return site
