-- Loops: a request on its way through its stages, and what experts said of the result.
-- Times are milliseconds since 1970. Lists and structures are JSON.

-- base: the commit it began at; none where there was none. scores: spec score, fit and autonomy; written once.
-- overridden: why a human took a request that was not clear enough. asked, shape: criteria, must-nots and verification,
-- as the request had them and as they hold. recall: the lines that were shown. ended: how, none while it goes on.
-- A plan or run is named, not referenced: a loop outlives them.
CREATE TABLE loop (
    id         TEXT   NOT NULL PRIMARY KEY,
    worktree   TEXT   NOT NULL,
    base       TEXT,
    stage      TEXT   NOT NULL,
    request    TEXT   NOT NULL,
    spec       TEXT,
    scores     TEXT,
    overridden TEXT,
    asked      TEXT   NOT NULL,
    shape      TEXT,
    recall     TEXT   NOT NULL,
    plan       TEXT,
    run        TEXT,
    rounds     BIGINT NOT NULL,
    ended      TEXT,
    started_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX loop_by_worktree ON loop (worktree, started_at);
-- Whoever starts a second one at the same moment is refused by this.
CREATE UNIQUE INDEX loop_unfinished ON loop (worktree) WHERE ended IS NULL;

-- wave: of a light review; round: of a thorough one. The other is none.
CREATE TABLE loop_review (
    loop               TEXT    NOT NULL REFERENCES loop (id) ON DELETE CASCADE,
    number             BIGINT  NOT NULL,
    wave               BIGINT,
    round              BIGINT,
    score              BIGINT,
    blockers_remaining BIGINT  NOT NULL,
    passed             BOOLEAN NOT NULL,
    at                 BIGINT  NOT NULL,
    PRIMARY KEY (loop, number)
);

-- id: in its loop, from 1.
CREATE TABLE finding (
    loop       TEXT   NOT NULL,
    id         BIGINT NOT NULL,
    review     BIGINT NOT NULL,
    severity   TEXT   NOT NULL,
    file       TEXT   NOT NULL,
    line       BIGINT NOT NULL,
    expert     TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    must_not   TEXT,
    resolution TEXT   NOT NULL,
    PRIMARY KEY (loop, id),
    FOREIGN KEY (loop, review) REFERENCES loop_review (loop, number) ON DELETE CASCADE
);
