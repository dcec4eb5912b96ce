-- When the open question was asked: the only thing that ages a wait. Rows now in an interrupt state are stamped with
-- the last moment anything is known of them, so that none waits without a clock.
ALTER TABLE todos ADD COLUMN interrupted_at timestamptz(6);
UPDATE todos SET interrupted_at = updated_at WHERE state IN ('input-required', 'auth-required');
ALTER TABLE todos ADD CONSTRAINT todos_interrupted_at_check
  CHECK ((interrupted_at IS NOT NULL) = (state IN ('input-required', 'auth-required')));
CREATE INDEX todos_interrupted_at ON todos (interrupted_at) WHERE state IN ('input-required', 'auth-required');
