-- Plans that were compiled from a spec: what they are for, what proves a task done, what was decided, what runs.

-- Description, constraints, criteria, promise and phases, as JSON; a plain list has none.
ALTER TABLE plan ADD COLUMN head TEXT;
-- A cleared plan is archived: kept with its evidence, and nobody's any more.
ALTER TABLE plan ADD COLUMN cleared_at BIGINT;
-- The last time its agent ran out of context: when, who, and how many tasks were closed by then, as JSON.
ALTER TABLE plan ADD COLUMN checkpoint TEXT;

ALTER TABLE task ADD COLUMN phase TEXT;
ALTER TABLE task ADD COLUMN item BIGINT;
-- When it was last started and the object ids of its files then, as JSON.
ALTER TABLE task ADD COLUMN started TEXT;
-- The last way its check failed, and how often in a row.
ALTER TABLE task ADD COLUMN failure TEXT;

-- How many tasks it waits for that are not done: what is ready is found without looking at what it waits for.
ALTER TABLE task ADD COLUMN waits BIGINT NOT NULL DEFAULT 0;
UPDATE task SET waits = (
    SELECT COUNT(*) FROM dependency JOIN task AS before ON before.plan = dependency.plan AND before.id = dependency.blocked_by
    WHERE dependency.plan = task.plan AND dependency.task = task.id AND before.status <> 'done');
CREATE INDEX task_ready ON task (plan, status, waits, position, id);
CREATE INDEX dependency_by_cause ON dependency (plan, blocked_by, task);

-- How many tasks of a plan have a status: every answer needs it, and counting 100,000 takes longer than the rest.
CREATE TABLE tally (
    plan   TEXT   NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
    status TEXT   NOT NULL,
    tasks  BIGINT NOT NULL,
    PRIMARY KEY (plan, status)
);
INSERT INTO tally (plan, status, tasks) SELECT plan, status, COUNT(*) FROM task GROUP BY plan, status;
CREATE TRIGGER task_came AFTER INSERT ON task BEGIN
    INSERT INTO tally (plan, status, tasks) VALUES (new.plan, new.status, 1)
    ON CONFLICT (plan, status) DO UPDATE SET tasks = tasks + 1;
END;
CREATE TRIGGER task_went AFTER DELETE ON task BEGIN
    UPDATE tally SET tasks = tasks - 1 WHERE plan = old.plan AND status = old.status;
END;
CREATE TRIGGER task_moved AFTER UPDATE OF status ON task WHEN old.status <> new.status BEGIN
    UPDATE tally SET tasks = tasks - 1 WHERE plan = old.plan AND status = old.status;
    INSERT INTO tally (plan, status, tasks) VALUES (new.plan, new.status, 1)
    ON CONFLICT (plan, status) DO UPDATE SET tasks = tasks + 1;
END;

-- A check is more than a command by now.
UPDATE task SET verify = json_object('command', json_object('command', verify)) WHERE verify IS NOT NULL;

-- Nothing wrote evidence before this version.
DROP TABLE evidence;

CREATE TABLE evidence (
    plan   TEXT    NOT NULL,
    task   TEXT    NOT NULL,
    number BIGINT  NOT NULL,
    class  TEXT    NOT NULL,
    passed BOOLEAN NOT NULL,
    at     BIGINT  NOT NULL,
    -- All of it, as JSON.
    body   TEXT    NOT NULL,
    PRIMARY KEY (plan, task, number)
);

-- What was done last.
CREATE INDEX evidence_by_time ON evidence (plan, passed, at);

CREATE TABLE decision (
    plan     TEXT   NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
    number   BIGINT NOT NULL,
    phase    TEXT,
    what     TEXT   NOT NULL,
    why      TEXT   NOT NULL,
    added_by TEXT   NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (plan, number)
);

-- What a check's command stood for when the plan was loaded, as JSON. A human's yes replaces it.
CREATE TABLE frozen (
    plan       TEXT   NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
    command    TEXT   NOT NULL,
    definition TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    PRIMARY KEY (plan, command)
);

-- A check that runs. Its supervisor holds the lock of that name; without it the row is a leftover.
CREATE TABLE running (
    plan       TEXT   NOT NULL,
    task       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    started_at BIGINT NOT NULL,
    PRIMARY KEY (plan, task),
    FOREIGN KEY (plan, task) REFERENCES task (plan, id) ON DELETE CASCADE
);
