"""The shell: reading bash text into nodes, and walking them without running anything.

Reading: `parser` (lists of commands) over `compound` and `simple` (one command), `source` (what stands
between words), `words` and `ansi` (one word), `cursor` (characters); what comes out is in `nodes`.

Walking: `walk` (lists and commands) with `branches`, `redirects`, `builtins`, `variables`; `expand` turns
words into arguments by `patterns` and `globs`; `state` is what the script has set up, `streams` what is
connected, `output` what well-known commands print. `effort` bounds both.
"""
