-- What the work of sessions was like: what each was for, its steps, and what past runs taught. Lists are JSON.
-- What is said here stands before the tables: SQLite keeps what is inside and reads it again with every opening.

-- project_path: the folder that the paths of its steps are told from.
-- numbered: the number of the newest constraint; none is given twice.
-- drift_history: score, level and time of the last few steps, the newest last.
-- status: active, at work; completed, its last turn came to its end; abandoned, it ended in the middle of one.
-- tally: how many steps there were, and how many of each level.
CREATE TABLE session_states (
    session_id       TEXT   NOT NULL PRIMARY KEY,
    project_path     TEXT   NOT NULL,
    original_goal    TEXT   NOT NULL,
    expected_scope   TEXT   NOT NULL,
    constraints      TEXT   NOT NULL,
    numbered         BIGINT NOT NULL,
    keywords         TEXT   NOT NULL,
    drift_history    TEXT   NOT NULL,
    escalation_count BIGINT NOT NULL,
    last_checked_at  BIGINT,
    status           TEXT   NOT NULL,
    course           TEXT   NOT NULL,
    tally            TEXT   NOT NULL,
    tags             TEXT   NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);

-- number: what the keys point to. Never the row's own number: that changes when the file is compacted.
-- reasoning: why the score is what it is.
-- is_validated: nobody is guided by a step below 5.
CREATE TABLE steps (
    number           INTEGER PRIMARY KEY,
    id               TEXT    NOT NULL UNIQUE,
    session_id       TEXT    NOT NULL,
    action_type      TEXT    NOT NULL,
    files            TEXT    NOT NULL,
    folders          TEXT    NOT NULL,
    command          TEXT,
    reasoning        TEXT    NOT NULL,
    drift_score      BIGINT  NOT NULL,
    drift_type       TEXT    NOT NULL,
    level            TEXT    NOT NULL,
    correction_given TEXT,
    is_key_decision  BOOLEAN NOT NULL DEFAULT FALSE,
    is_validated     BOOLEAN NOT NULL,
    keywords         TEXT    NOT NULL,
    timestamp        BIGINT  NOT NULL
);

CREATE INDEX steps_by_session ON steps (session_id, timestamp);

-- By what a validated step is found: its files, their folders, its words. Of what a session did again and again the last
-- time counts: a file that was edited a thousand times must not hide its neighbours.
-- action: a hash of what was done.
CREATE TABLE step_key (
    kind       TEXT   NOT NULL,
    key        TEXT   NOT NULL,
    action     BIGINT NOT NULL,
    session_id TEXT   NOT NULL,
    timestamp  BIGINT NOT NULL,
    step       BIGINT NOT NULL,
    PRIMARY KEY (kind, key, action, session_id)
) WITHOUT ROWID;

-- A few hundred, read whole: they need no index.
CREATE TABLE learnings (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    why        TEXT    NOT NULL,
    files      TEXT    NOT NULL,
    keywords   TEXT    NOT NULL,
    confidence BIGINT  NOT NULL,
    status     TEXT    NOT NULL,
    session    TEXT,
    source     TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL
);
