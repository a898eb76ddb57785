import fcntl, json, os, sys

payload = json.load(sys.stdin)
root = payload["cwd"]
while not os.path.exists(os.path.join(root, ".git")):
    root = os.path.dirname(root)
folder = os.path.join(root, ".git", "steadfast", "python", payload["session_id"])
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "lock"), "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    path = os.path.join(folder, "state")
    state = json.load(open(path)) if os.path.exists(path) else {"sequence": 0, "tool_calls": 0}
    state["sequence"] += 1
    state["tool_calls"] += 1
    record = {"event": payload["hook_event_name"], "tool": payload["tool_name"], "sequence": state["sequence"]}
    with open(os.path.join(folder, "journal"), "a") as journal:
        journal.write(json.dumps(record) + "\n")
    with open(path + ".new", "w") as new:
        json.dump(state, new)
    os.rename(path + ".new", path)
