"""Sites with jobs that ended, and the settings of alerts."""

import time
from pathlib import Path

from agent.alerts.channels import AlertPlan, Webhook
from agent.site.directory import Site
from agent.store import AlertCode, Job, JobProgress, QueuedCommand, Store
from tests.agent.alerts.receivers import SECRET


def write_secret(folder: Path, secret: str = SECRET) -> Path:
    path = folder / "alerts.secret"
    path.write_text(secret + "\n")
    path.chmod(0o600)
    return path


def plan_for(site: Site, url: str, *, gap_s: float = 0.0, patience_s: float = 86_400) -> AlertPlan:
    webhook = Webhook(url, write_secret(site.directory))
    return AlertPlan(frozenset(AlertCode), None, gap_s, patience_s, webhook)


def end_job(store: Store, exit_code: int = 0, now: float | None = None) -> Job:
    """Add a job that has run to its end."""
    now = time.time() if now is None else now
    job = store.jobs.add(QueuedCommand(("rescore",), "a title", "command line"), now)
    store.jobs.begin(job.job_id, now)
    progress = JobProgress("a label", "asking", 20, 3, 20, 1.0, "", now, unscored=1)
    store.jobs.report(job.job_id, progress)
    store.jobs.end(job.job_id, exit_code, now, "a problem")
    return job
