DROP INDEX todos_exhausted;
DROP STATISTICS todos_spent;
ALTER TABLE todos DROP CONSTRAINT todos_spent_check;
ALTER TABLE todos DROP COLUMN lease_expirations;
ALTER TABLE todos ADD CONSTRAINT todos_spent_check CHECK (
  CASE
    WHEN state IN ('pending', 'completed', 'failed', 'canceled', 'rejected') THEN failures <= max_attempts
    ELSE failures < max_attempts
  END);
CREATE INDEX todos_exhausted ON todos (id) WHERE state = 'pending' AND (failures >= max_attempts) IS TRUE;
CREATE STATISTICS todos_spent ON (failures >= max_attempts) FROM todos;
