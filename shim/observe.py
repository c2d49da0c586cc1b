"""argv -> Action, and shell text -> Action. Pure: nothing is run, files are seen through `Context`."""

import msgspec

from sekisho.core.action import Action, Effect, Reach
from shim.bash.effort import Effort, Unreadable
from shim.bash.state import State
from shim.bash.walk import Walker
from shim.call import ANSWERS, Call
from shim.context import Context, Place
from shim.judge import Judge, judged_shell
from shim.text import shown

FAULT = "observer-fault"


def observe(argv: tuple[str, ...], context: Context) -> Action:
    """What a program started with these arguments would do."""
    judge, broken = _judged(argv, context)
    return _finished(judge, shown(" ".join(argv)), broken)


def observe_shell(command: str, context: Context) -> Action:
    """What `bash -c command` would do; of its parts the most severe counts."""
    judge, broken = _judged_shell(command, context)
    return _finished(judge, shown(command), broken)


def parts(command: tuple[str, ...] | str, context: Context) -> tuple[Action, ...]:
    """Every effect of a program with its arguments, or of shell text, in the order in which they are come
    across; the most severe of them is what `observe` and `observe_shell` tell."""
    if isinstance(command, str):
        (judge, broken), line = _judged_shell(command, context), shown(command)
    else:
        (judge, broken), line = _judged(command, context), shown(" ".join(command))
    if broken or not judge.actions:
        return (_finished(judge, line, broken),)
    return tuple(_completed(action, judge, line) for action in judge.actions)


def _judged(argv: tuple[str, ...], context: Context) -> tuple[Judge, str]:
    """What came of a look at a program's call, and why there could be none."""
    judge = Judge(context, Effort(sum(map(len, argv))))
    state = initial_state(context)
    walker = Walker(judge)
    if "\0" in "".join(argv) or not argv:
        return judge, "no such command line is possible"
    try:
        judge.nested(walker, list(argv), state, None, heard=False)
    except (Unreadable, RecursionError) as error:
        Call(list(argv), state, None, walker, judge).unknown(argv[0], f"cannot be read: {error}")
    except Exception as error:  # a mistake in here must not let anything pass as known
        Call(list(argv), state, None, walker, judge).unknown(argv[0], repr(error), code=FAULT)
    return judge, ""


def _judged_shell(command: str, context: Context) -> tuple[Judge, str]:
    judge = Judge(context, Effort(len(command)))
    if "\0" in command:
        return judge, "no such command line is possible"
    try:
        judged_shell(command, initial_state(context), judge)
    except Exception as error:  # as above
        call = Call(["shell"], initial_state(context), None, Walker(judge), judge)
        call.unknown(command[:100], repr(error), code=FAULT)
    return judge, ""


def initial_state(context: Context) -> State:
    """The state a command starts in: a few variables have the same value everywhere."""
    state = State(cwd=context.cwd, variables={"IFS": " \t\n", "TMPDIR": "/tmp", **context.environment})
    state.variables["HOME"], state.variables["PWD"] = context.home, context.cwd
    return state


def _finished(judge: Judge, command: str, broken: str) -> Action:
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
    return _completed(worst, judge, command)


def _completed(action: Action, judge: Judge, command: str) -> Action:
    answers = action.answers
    if action.effect is Effect.UNKNOWN and judge.context.place is Place.SANDBOX:
        # What it changes stays inside, and what it sends must still pass the proxy.
        answers = msgspec.structs.replace(answers, reach=Reach.SANDBOX)
    others = sorted({each.effect.value for each in judge.actions})
    detail = {**action.detail, "command": command[:2000], "effects": others}
    return Action(
        verb=action.verb,
        target=action.target,
        effect=action.effect,
        reason=action.reason,
        code=action.code,
        answers=answers,
        detail=detail,
    )
