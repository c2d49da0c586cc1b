"""The process of a command: `python -m sekisho`, and the script `sekisho`."""

import gc

# Instead of 700. A command mostly loads, and what is loaded stays: to look through it for garbage again and
# again is a tenth of what a short command costs.
SELDOM = 100_000


def main() -> None:
    """Run the command that the arguments name."""
    gc.set_threshold(SELDOM)
    from sekisho.cli.main import main as command_line

    try:
        command_line()
    finally:
        # All of it goes with the process: the interpreter would look through it once more.
        gc.freeze()


if __name__ == "__main__":
    main()
