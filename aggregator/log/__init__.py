"""The transparency log: leaves, checkpoints, receipts."""
