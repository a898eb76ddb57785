#!/bin/sh
# Runs at the start of a session if the program `steadfast` is missing. Prints once, not in every session, how to
# install the program.
state=${XDG_STATE_HOME:-${HOME:+$HOME/.local/state}}
[ -n "$state" ] || exit 0
mkdir -p "$state/steadfast" 2>/dev/null
# If several sessions start at once, `mkdir` succeeds in one of them. Without a writable state folder the script is silent.
mkdir "$state/steadfast/plugin-without-program" 2>/dev/null || exit 0
printf '%s\n' '{"systemMessage": "Steadfast: the program `steadfast` is not on the PATH, so its plugin does nothing. Install it with `npm install --global steadfast-cli` or `pipx install steadfast-cli`, then run `steadfast init` in your repository. This note comes once."}'
