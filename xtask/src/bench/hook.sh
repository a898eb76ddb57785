payload=$(cat)
IFS=$'\t' read -r root session event tool < <(jq -r '[.cwd, .session_id, .hook_event_name, .tool_name] | @tsv' <<<"$payload")
while [ ! -e "$root/.git" ]; do root=${root%/*}; done
folder="$root/.git/steadfast/bash/$session"
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
sequence=0
[ -e "$folder/state" ] && sequence=$(jq .sequence "$folder/state")
sequence=$((sequence + 1))
printf '{"event":"%s","tool":"%s","sequence":%d}\n' "$event" "$tool" "$sequence" >>"$folder/journal"
printf '{"sequence":%d,"tool_calls":%d}\n' "$sequence" "$sequence" >"$folder/state.new"
mv "$folder/state.new" "$folder/state"
