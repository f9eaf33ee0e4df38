"""Pooling of sites' cells into board rows; pure."""
