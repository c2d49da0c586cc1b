"""The gatekeeper process: `python -I -m sekisho.broker FD`, started by a launcher."""

import gc


def main() -> None:
    """Load what it takes, and serve."""
    # What is loaded stays, and yet the collector would walk it again and again, for a tenth of the start:
    # off until `serving` begins to answer.
    gc.disable()
    from sekisho.broker import serving

    serving.main()


if __name__ == "__main__":
    main()
