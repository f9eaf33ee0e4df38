"""The main path of a run: plan, ask, score, summarise; resumable."""
