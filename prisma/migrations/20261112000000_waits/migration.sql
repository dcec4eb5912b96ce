-- Held and parked questions each have a deadline of their own, and there may be a hundred thousand of one kind and a handful of
-- the other: a sweep reads those of its own kind that are old enough, and no others.
CREATE INDEX todos_held ON todos (interrupted_at) WHERE state IN ('input-required', 'auth-required') AND owner IS NOT NULL;
CREATE INDEX todos_parked ON todos (interrupted_at) WHERE state IN ('input-required', 'auth-required') AND owner IS NULL;
DROP INDEX todos_interrupted_at;

-- Those that were given more time, which the reaper's look at its clocks has to see each by itself.
CREATE INDEX todos_extended ON todos (wait_until) WHERE state IN ('input-required', 'auth-required') AND wait_until IS NOT NULL;
