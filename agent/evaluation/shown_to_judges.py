"""What judges were shown of an answer: those outside the hospital saw it redacted, and can quote only that."""

from functools import cached_property
from urllib.parse import urlsplit

from agent.catalog.deployments import read_deployments
from agent.jury.prompts import matter_of
from agent.metrics import MetricUse
from agent.redaction import Redactor, open_redactor
from agent.site import Site
from agent.vocabulary import Instance


class ShownToJudges:
    """Knows for one site which judges are outside; opens its redactor when one has to do with an answer."""

    def __init__(self, site: Site) -> None:
        """Open nothing yet."""
        self._site = site

    def text(self, use: MetricUse, instance: Instance, answer: str) -> str:
        """Return every form of an answer that the jury of `use` was shown, one below the other.

        Raises:
            ConfigError, RedactionError: a judge is outside, and the deployments or the policy cannot be read.
        """
        if not any(judge.model_deployment in self._outside for judge in use.judges):
            return answer
        matter = matter_of(instance, answer)
        texts = [matter.question, matter.gold if use.gold_shown else "", matter.answer]
        return f"{answer}\n\n{self._redactor.redact_record(texts)[-1]}"

    @cached_property
    def _outside(self) -> frozenset[str]:
        settings = self._site.settings
        if not settings.outside_judge_hosts:
            return frozenset()
        found = read_deployments(self._site.deployments)
        return frozenset(
            name for name, one in found.items() if urlsplit(one.base_url).hostname not in settings.allowed_hosts
        )

    @cached_property
    def _redactor(self) -> Redactor:
        return open_redactor(self._site.settings.redaction_policy, self._site.directory)
