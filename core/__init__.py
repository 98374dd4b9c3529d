"""Invariscope: audits image-caption metrics for semantic invariance."""

__version__ = "0.1.0"
