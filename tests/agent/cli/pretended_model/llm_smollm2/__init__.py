"""Stands for the package with the demo's weights, whose code needs what is not installed beside it."""

raise ImportError("the demo must find the weights without running this")
