"""Compare a wheel with the source it was built from: every file of every package must be in it.

python scripts/check_wheel.py WHEEL SOURCE
"""

import sys
import zipfile
from pathlib import Path

PACKAGES = ("sekisho", "shim", "netpolicy", "sandbox", "images")


def expected(source: Path) -> set[str]:
    """All files below the packages' folders, as the wheel would name them."""
    return {
        str(path.relative_to(source))
        for package in PACKAGES
        for path in (source / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def main() -> int:
    """0 where the wheel is whole, 1 where files are missing; names them."""
    wheel, source = Path(sys.argv[1]), Path(sys.argv[2])
    files = expected(source)
    with zipfile.ZipFile(wheel) as archive:
        missing = sorted(files - set(archive.namelist()))
    for name in missing:
        print(f"error: {name} is missing from {wheel.name}", file=sys.stderr)
    if missing:
        print("  next: see package-data in pyproject.toml, or add the missing __init__.py", file=sys.stderr)
    return 1 if missing or not files else 0


if __name__ == "__main__":
    sys.exit(main())
