"""Runs: plan, run, store; nothing here knows how a page looks."""
