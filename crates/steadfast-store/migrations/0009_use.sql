-- Which plan of a worktree is in force: the one that was loaded, or chosen with `plan use`, last.

ALTER TABLE plan ADD COLUMN used_at BIGINT;
-- A plan that a human chose stays in force while one of its tasks is blocked.
ALTER TABLE plan ADD COLUMN used_by TEXT;
