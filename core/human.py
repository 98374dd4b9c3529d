"""The former address of studies: scripts that ask for ``core.human.studies`` get :mod:`core.features.human.studies`."""

import sys

from core.features.human import studies

sys.modules[f"{__name__}.studies"] = studies  # the module itself and no second copy of its classes
