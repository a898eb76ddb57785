-- What the journals said: the sessions, what the policies thought, and how far each journal is read.

CREATE TABLE session (
    id         TEXT   NOT NULL PRIMARY KEY,
    host       TEXT   NOT NULL,
    worktree   TEXT,
    started_at BIGINT NOT NULL,
    last_at    BIGINT NOT NULL,
    ended_at   BIGINT,
    end_reason TEXT,
    prompts    BIGINT NOT NULL,
    tool_calls BIGINT NOT NULL,
    refusals   BIGINT NOT NULL
);

-- One row per opinion. Events that no policy had anything to say to are only counted.
CREATE TABLE history (
    session  TEXT   NOT NULL,
    sequence BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    agent    TEXT,
    event    TEXT   NOT NULL,
    policy   TEXT   NOT NULL,
    mode     TEXT   NOT NULL,
    verdict  TEXT   NOT NULL,
    reason   TEXT   NOT NULL,
    facts    TEXT,
    PRIMARY KEY (session, sequence, policy)
);

CREATE INDEX history_by_time ON history (at);

CREATE TABLE drained (
    session    TEXT   NOT NULL PRIMARY KEY,
    sequence   BIGINT NOT NULL,
    file_start BIGINT NOT NULL,
    -- The first byte of that file that is not in the ledger yet.
    "offset"   BIGINT NOT NULL
);
