"""The process of a command: `python -m sekisho`, and the script `sekisho`."""

import gc
import sys

INTERRUPTED = 130  # 128 + SIGINT
# Instead of 700. A command mostly loads, and what is loaded stays: to look through it for garbage again and
# again is a tenth of what a short command costs.
SELDOM = 100_000


def main() -> None:
    """Run the command that the arguments name."""
    gc.set_threshold(SELDOM)
    try:
        from sekisho.cli.main import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)  # while it was loaded; later the command line says so
    finally:
        # All of it goes with the process: the interpreter would look through it once more.
        gc.freeze()


if __name__ == "__main__":
    main()
