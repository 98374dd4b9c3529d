"""Types of the fixtures that call the command line."""

import subprocess
from collections.abc import Callable

from typer.testing import Result

Invoke = Callable[..., Result]
Shell = Callable[..., "subprocess.CompletedProcess[str]"]
