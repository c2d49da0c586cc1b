"""What a tool of the grammar writes over: what it is known to write, and what options name by custom."""

from collections.abc import Sequence
from itertools import pairwise

from shim.call import Call
from shim.grammar import Save, Tool, names
from shim.handlers.copying import landing
from shim.options import Parsed
from shim.verbs import fit, tokens

# Options that name a file to be written, whatever the tool that changes something.
_CUSTOMARY = names(
    "-o -MF --out --output --outfile --out-file --outFile --output-file --output-path --outputFile "
    "--outputPath --save-to --log-file --logfile --logFile --report-file --report-path --reportfile "
    "--junitxml --junit-xml --junit-output --result-log --coverprofile --cpuprofile --memprofile "
    "--descriptor_set_out"
)


def note_outputs(call: Call, tool: Tool, parsed: Parsed, own: Sequence[str]) -> None:
    """Says what the call loses by writing; `own` are the arguments without those of an inner command."""
    for save in tool.saves:
        if _meant(save, parsed):
            _saved(call, save, parsed)
    for name in _CUSTOMARY & parsed.places.keys() - names(tool.outputs):
        for value in filter(None, parsed.all(name)):
            call.overwrites(value, product=tool.products)
    taken = names(tool.values) | names(tool.outputs)
    for option, value in pairwise(own):
        if option in _CUSTOMARY and option not in taken:  # the grammar does not say that it has a value
            call.overwrites(value, product=tool.products)


def _meant(save: Save, parsed: Parsed) -> bool:
    if save.only and not parsed.has(*save.only.split()):
        return False
    return not save.verbs or any(fit(tokens(verb), parsed.words) for verb in save.verbs)


def _saved(call: Call, save: Save, parsed: Parsed) -> None:
    paths = parsed.all(*save.options.split())
    if save.last and len(parsed.words) >= save.last:
        source = parsed.words[-2] if len(parsed.words) > 1 else ""
        paths.append(landing(call, source, parsed.words[-1]))
    for path in filter(None, paths):
        call.clears(path) if save.clears else call.overwrites(path)
