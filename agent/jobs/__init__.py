"""The queue: command lines of the site that run one after another, each in a process of its own.

`queue.py` checks and queues them, `dispatcher.py` starts a worker for each whose turn has come, and `worker.py` is what
runs in that process. The rows are `agent.store.jobs`.
"""
