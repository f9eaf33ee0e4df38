"""Alerts: codes and counts of events, sent to a webhook or by e-mail. `courier.py` is the main path."""
