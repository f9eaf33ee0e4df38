"""HTTPS delivery of submissions and checking of receipts."""
