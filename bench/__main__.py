"""Run every measurement in its own process and print one Markdown table."""

import argparse
import subprocess
import sys

from bench.report import machine

MEASUREMENTS = (
    "median",
    "audit_engine",
    "corpora",
    "probe_lab",
    "first_variant",
    "offline_accuracy",
    "statistics",
    "whole_report",
    "dashboard",
    "store",
    "contrast",
    "published",
    "captions",
    "references",
    "pool_memory",
    "judge",
    "gpu",
    "human",
)


def main() -> int:
    """Print the rows of the chosen measurements; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(MEASUREMENTS)} (default: all)")
    names = parser.parse_args().names or list(MEASUREMENTS)
    unknown = sorted(set(names) - set(MEASUREMENTS))
    if unknown:
        parser.error(f"no measurement is named {unknown[0]!r}; known: {', '.join(MEASUREMENTS)}")
    print(f"Machine: {machine()}\n\n| measured | value | n | to reach |\n| --- | --- | --- | --- |", flush=True)
    failed = [name for name in names if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
