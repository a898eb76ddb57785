-- What the gate of a loop objected to at its last look, and what a human took as it is. Both are JSON.

ALTER TABLE loop ADD COLUMN objections TEXT NOT NULL DEFAULT '[]';
ALTER TABLE loop ADD COLUMN waived TEXT NOT NULL DEFAULT '[]';
