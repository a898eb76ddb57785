-- Runs: agents that work a plan off in waves, and what each dispatch of a unit cost.
-- Times are milliseconds since 1970, money is millionths of a US dollar. Lists and maps are JSON.

-- base: the commit the run's branch began at. limits: what it may use up, as JSON.
-- pid, pid_started: the process that runs it, and when that began as the system counts; none while nobody does.
CREATE TABLE run (
    id          TEXT   NOT NULL PRIMARY KEY,
    plan        TEXT   NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
    worktree    TEXT   NOT NULL,
    spec        TEXT   NOT NULL,
    host        TEXT   NOT NULL,
    base        TEXT   NOT NULL,
    branch      TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    reason      TEXT,
    limits      TEXT   NOT NULL,
    started_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    ended_at    BIGINT,
    pid         BIGINT,
    pid_started BIGINT
);

CREATE INDEX run_by_worktree ON run (worktree, started_at);
CREATE INDEX run_by_plan ON run (plan, started_at);

-- number: its place in the plan. tasks: their ids, in the order they are worked on.
-- stuck: failures in a row that count towards blocking it. plan: the plan of its worktree, with its tasks alone.
-- leases: the token of each task. head: the commit of its last work; merged: the commit that brought it to the run's branch.
CREATE TABLE run_unit (
    run          TEXT   NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    unit         TEXT   NOT NULL,
    number       BIGINT NOT NULL,
    title        TEXT   NOT NULL,
    tasks        TEXT   NOT NULL,
    wave         BIGINT NOT NULL,
    status       TEXT   NOT NULL,
    attempts     BIGINT NOT NULL,
    stuck        BIGINT NOT NULL,
    branch       TEXT,
    directory    TEXT,
    plan         TEXT,
    pid          BIGINT,
    pid_started  BIGINT,
    session      TEXT,
    leases       TEXT   NOT NULL,
    head         TEXT,
    merged       TEXT,
    note         TEXT,
    last_failure TEXT,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (run, unit)
);

-- One per iteration. What it spent is all its session spent until then: each report replaces the one before.
-- micro_usd: none while nobody knows the price.
CREATE TABLE dispatch (
    run           TEXT   NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number        BIGINT NOT NULL,
    unit          TEXT   NOT NULL,
    host          TEXT   NOT NULL,
    session       TEXT,
    started_at    BIGINT NOT NULL,
    ended_at      BIGINT,
    ending        TEXT,
    micro_usd     BIGINT,
    input_tokens  BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    turns         BIGINT NOT NULL,
    summary       TEXT,
    PRIMARY KEY (run, number)
);
