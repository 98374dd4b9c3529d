"""Evaluators that ask a model over the network."""
