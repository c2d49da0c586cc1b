"""argv -> Action, and shell text -> Action. Pure: nothing is run, files are seen through `Context`."""

import msgspec

from sekisho.core.action import Action, Effect, Reach
from shim.bash.state import State
from shim.bash.walk import Walker
from shim.bash.words import Unreadable
from shim.call import ANSWERS, Call
from shim.context import Context, Place
from shim.judge import Judge, judged_shell
from shim.text import shown

FAULT = "observer-fault"


def observe(argv: tuple[str, ...], context: Context) -> Action:
    """What a program started with these arguments would do."""
    judge = Judge(context)
    state = initial_state(context)
    walker = Walker(judge)
    if "\0" in "".join(argv) or not argv:
        return _finished(judge, shown(" ".join(argv)), "no such command line is possible")
    try:
        judge.nested(walker, list(argv), state, None, heard=False)
    except (Unreadable, RecursionError) as error:
        Call(list(argv), state, None, walker, judge).unknown(argv[0], f"cannot be read: {error}")
    except Exception as error:  # a mistake in here must not let anything pass as known
        Call(list(argv), state, None, walker, judge).unknown(argv[0], repr(error), code=FAULT)
    return _finished(judge, shown(" ".join(argv)))


def observe_shell(command: str, context: Context) -> Action:
    """What `bash -c command` would do; of its parts the most severe counts."""
    judge = Judge(context)
    if "\0" in command:
        return _finished(judge, shown(command), "no such command line is possible")
    try:
        judged_shell(command, initial_state(context), judge)
    except Exception as error:  # as above
        call = Call(["shell"], initial_state(context), None, Walker(judge), judge)
        call.unknown(command[:100], repr(error), code=FAULT)
    return _finished(judge, shown(command))


def initial_state(context: Context) -> State:
    """The state a command starts in: a few variables have the same value everywhere."""
    state = State(cwd=context.cwd, variables={"IFS": " \t\n", "TMPDIR": "/tmp", **context.environment})
    state.variables["HOME"], state.variables["PWD"] = context.home, context.cwd
    return state


def _finished(judge: Judge, command: str, broken: str = "") -> Action:
    worst = judge.worst()
    if broken or worst is None:
        effect = Effect.UNKNOWN if broken else Effect.READ
        return Action(
            verb="shell",
            target=command[:200],
            effect=effect,
            reason=broken or "nothing is changed",
            code="unreadable-shell" if broken else "read-command",
            answers=ANSWERS[effect],
            detail={"command": command[:2000]},
        )
    answers = worst.answers
    if worst.effect is Effect.UNKNOWN and judge.context.place is Place.SANDBOX:
        # What it changes stays inside, and what it sends must still pass the proxy.
        answers = msgspec.structs.replace(answers, reach=Reach.SANDBOX)
    others = sorted({action.effect.value for action in judge.actions})
    detail = {**worst.detail, "command": command[:2000], "effects": others}
    return Action(
        verb=worst.verb,
        target=worst.target,
        effect=worst.effect,
        reason=worst.reason,
        code=worst.code,
        answers=answers,
        detail=detail,
    )
