"""`python -m sekisho`."""

from sekisho.cli.main import main

if __name__ == "__main__":
    main()
