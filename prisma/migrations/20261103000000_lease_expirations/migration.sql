-- Executions the reaper had to take back. Counted from the reaper's own events that carry reclaimed_epoch and never from
-- claims: an answered question is a claim too, and claims must cost nothing.
ALTER TABLE todos ADD COLUMN lease_expirations integer NOT NULL DEFAULT 0 CHECK (lease_expirations >= 0);

UPDATE todos t
SET lease_expirations = e.expirations,
    max_attempts = greatest(t.max_attempts, t.failures + e.expirations)
FROM (
  SELECT todo_id, count(*)::integer AS expirations
  FROM todo_events
  WHERE actor = 'reaper' AND verb IN ('requeued', 'failed') AND data ? 'reclaimed_epoch'
  GROUP BY todo_id
) e
WHERE e.todo_id = t.id;

-- A row that somebody works on or waits for must keep one execution in hand.
UPDATE todos SET max_attempts = failures + lease_expirations + 1
WHERE state IN ('claimed', 'input-required', 'auth-required', 'waiting') AND failures + lease_expirations >= max_attempts;

ALTER TABLE todos DROP CONSTRAINT todos_spent_check;
ALTER TABLE todos ADD CONSTRAINT todos_spent_check CHECK (
  CASE
    WHEN state IN ('pending', 'completed', 'failed', 'canceled', 'rejected') THEN failures + lease_expirations <= max_attempts
    ELSE failures + lease_expirations < max_attempts
  END);
DROP INDEX todos_exhausted;
DROP STATISTICS todos_spent;
CREATE INDEX todos_exhausted ON todos (id)
  WHERE state = 'pending' AND (failures + lease_expirations >= max_attempts) IS TRUE;
CREATE STATISTICS todos_spent ON (failures + lease_expirations >= max_attempts) FROM todos;
