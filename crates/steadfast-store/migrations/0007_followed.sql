-- Plans whose tasks are kept elsewhere: as they stood there when that was last read.

CREATE TABLE followed (
    plan   TEXT NOT NULL PRIMARY KEY REFERENCES plan (id) ON DELETE CASCADE,
    -- Of what was read: the same again is not taken in again.
    digest TEXT NOT NULL
);

CREATE TABLE followed_task (
    plan  TEXT NOT NULL,
    task  TEXT NOT NULL,
    -- How it stood there.
    seen  TEXT NOT NULL,
    -- How it stood here right after. What differs since has still to be told there.
    taken TEXT NOT NULL,
    -- What was written about it there: what is added here comes after that.
    notes TEXT,
    PRIMARY KEY (plan, task),
    FOREIGN KEY (plan, task) REFERENCES task (plan, id) ON DELETE CASCADE
);
