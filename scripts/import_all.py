"""Imports every module of ours, as it is installed: `python -W error scripts/import_all.py`."""

import importlib
import pkgutil
import sys

ROOMS = ("sekisho", "netpolicy", "shim", "sandbox", "images")


# The one begins its work when it is imported, the other needs what a build has.
LEFT_OUT = ("shim.stub", "shim.build")


def main() -> None:
    """Exits with the first module that cannot be imported or warns."""
    count = 0
    for room in ROOMS:
        package = importlib.import_module(room)
        for found in pkgutil.walk_packages(package.__path__, f"{room}."):
            if not found.name.endswith(".__main__") and found.name not in LEFT_OUT:
                importlib.import_module(found.name)
                count += 1
    print(f"{count} modules import on {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
