-- A loop in a session: who is bound to it, whether it waits for a human, and what it may use up.

-- session: its stops are held while the loop is unfinished. waits: why it waits for a human; none while it does not.
-- limits: JSON, iterations and millionths of a US dollar. iterations: units that sessions began. spent: JSON, what each
-- session cost since the loop began, in millionths of a US dollar.
ALTER TABLE loop ADD COLUMN session TEXT;
ALTER TABLE loop ADD COLUMN waits TEXT;
ALTER TABLE loop ADD COLUMN limits TEXT NOT NULL DEFAULT '{"iterations":null,"micro_usd":null}';
ALTER TABLE loop ADD COLUMN iterations BIGINT NOT NULL DEFAULT 0;
ALTER TABLE loop ADD COLUMN spent TEXT NOT NULL DEFAULT '{}';
