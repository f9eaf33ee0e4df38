"""The door for numbers that leave: policy checks, preview, approval, signing."""
