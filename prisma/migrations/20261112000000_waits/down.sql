DROP INDEX todos_extended;
CREATE INDEX todos_interrupted_at ON todos (interrupted_at) WHERE state IN ('input-required', 'auth-required');
DROP INDEX todos_parked;
DROP INDEX todos_held;
