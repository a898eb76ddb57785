-- What closed each task that is done, as a stop compares it with the files. What a list brought in as done has no row.
-- since: what was written before that does not count against it. files: size, times and content, packed; empty: the
-- task names none.

CREATE TABLE proof (
    plan  TEXT   NOT NULL,
    task  TEXT   NOT NULL,
    class TEXT   NOT NULL,
    since BIGINT NOT NULL,
    files BLOB   NOT NULL,
    PRIMARY KEY (plan, task),
    FOREIGN KEY (plan, task) REFERENCES task (plan, id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX proof_claimed ON proof (plan, task) WHERE class = 'claimed';
