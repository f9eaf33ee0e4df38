"""Copies of a whole site in one file: made while it works, and restored to a site that knows that it is one."""
