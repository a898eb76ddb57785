-- Plans, their tasks, who holds a task, and what proves it done.
-- Times are milliseconds since 1970. Lists that are only ever read whole are JSON.

CREATE TABLE plan (
    id          TEXT   NOT NULL PRIMARY KEY,
    worktree    TEXT   NOT NULL,
    title       TEXT   NOT NULL,
    -- The spec it was compiled from; a plain list has none.
    source      TEXT,
    added_by    TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    owner       TEXT,
    owner_since BIGINT
);

CREATE INDEX plan_by_worktree ON plan (worktree, created_at);

CREATE TABLE task (
    plan            TEXT   NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
    id              TEXT   NOT NULL,
    -- The id, spelled so that comparing bytes puts 1.2 before 1.10.
    position        TEXT   NOT NULL,
    title           TEXT   NOT NULL,
    kind            TEXT   NOT NULL,
    type            TEXT,
    files           TEXT   NOT NULL,
    notes           TEXT,
    verify          TEXT,
    status          TEXT   NOT NULL,
    stuck_count     BIGINT NOT NULL DEFAULT 0,
    wave            BIGINT,
    added_by        TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    -- Never taken back: a task gives refusals back once.
    first_closed_at BIGINT,
    block_reason    TEXT,
    PRIMARY KEY (plan, id)
);

-- Counting and finding what is next read this index alone.
CREATE INDEX task_by_status ON task (plan, status, position, id);

CREATE TABLE dependency (
    plan       TEXT NOT NULL,
    task       TEXT NOT NULL,
    blocked_by TEXT NOT NULL,
    PRIMARY KEY (plan, task, blocked_by),
    FOREIGN KEY (plan, task) REFERENCES task (plan, id) ON DELETE CASCADE,
    FOREIGN KEY (plan, blocked_by) REFERENCES task (plan, id) ON DELETE CASCADE
);

-- A released lease keeps its row: the next token must be higher than every one given before.
CREATE TABLE lease (
    plan       TEXT   NOT NULL,
    task       TEXT   NOT NULL,
    holder     TEXT,
    token      BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (plan, task),
    FOREIGN KEY (plan, task) REFERENCES task (plan, id) ON DELETE CASCADE
);

CREATE TABLE evidence (
    id          TEXT   NOT NULL PRIMARY KEY,
    plan        TEXT   NOT NULL,
    task        TEXT   NOT NULL,
    class       TEXT   NOT NULL,
    command     TEXT,
    exit        BIGINT,
    seconds     DOUBLE PRECISION,
    output_tail TEXT,
    tree        TEXT,
    -- Object ids by path, at the time of the check.
    files       TEXT,
    at          BIGINT NOT NULL
);

CREATE INDEX evidence_by_task ON evidence (plan, task, at);
