#!/bin/sh
# The hook of a session's start runs this where the program `steadfast` is missing. It says once, not in every session, how to
# install the program.
state=${XDG_STATE_HOME:-${HOME:+$HOME/.local/state}}
[ -n "$state" ] || exit 0
mkdir -p "$state/steadfast" 2>/dev/null
# Of several sessions that start at once, `mkdir` succeeds in one. Where nothing can be kept, nothing is said.
mkdir "$state/steadfast/plugin-without-program" 2>/dev/null || exit 0
printf '%s\n' '{"systemMessage": "Steadfast: the program `steadfast` is not on the PATH, so its plugin does nothing. Install it with `npm install --global steadfast-cli` or `pipx install steadfast-cli`, then run `steadfast init` in your repository. This note comes once."}'
