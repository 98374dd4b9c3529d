"""Another project's package that may be here or not."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from core.evaluators.base import Availability


@dataclass(frozen=True, slots=True)
class Package:
    """A package that an adapter calls.

    Args:
        module: that is imported.
        distribution: name for ``pip install``.
        programs: that it calls, beside what pip installs.
    """

    module: str
    distribution: str
    programs: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The one command that gets it."""
        return f"pip install {self.distribution}"

    def availability(self) -> Availability:
        """Whether it and its programs are here. Nothing is imported."""
        if find_spec(self.module) is None:
            return Availability(False, f"the package {self.distribution} is not installed", self.command)
        missing = [name for name in self.programs if shutil.which(name) is None]
        if missing:
            why = f"{self.distribution} calls the program {missing[0]}, which is not on this machine"
            return Availability(False, why, f"install {missing[0]} and put it on the PATH")
        return Availability(True)

    def versions(self, others: Sequence[str] = ()) -> Mapping[str, str]:
        """Versions of it and of other packages that are here, by their names for pip."""
        found = {}
        for name in (self.distribution, *others):
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
        return found
