-- Until when the reaper looks for what an endpoint that is out of force still has: a claim may commit just after the
-- revocation. Those revoked before this migration are looked through once.
ALTER TABLE endpoints ADD COLUMN settled_at timestamptz(6);
CREATE INDEX endpoints_unsettled ON endpoints (revoked_at) WHERE revoked_at IS NOT NULL AND settled_at IS NULL;
CREATE INDEX endpoints_expires_at ON endpoints (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX todos_assignee ON todos (assignee_endpoint_id, id)
  WHERE assignee_endpoint_id IS NOT NULL AND state IN ('pending', 'claimed', 'input-required', 'auth-required', 'waiting');

-- What retention reads: ended todos from the oldest on, and those with more attempts kept than the fewest that may be
-- asked for. The number of pruned ones belongs to no version: nobody is told of it.
CREATE INDEX todos_ended ON todos (completed_at, id) WHERE completed_at IS NOT NULL;
ALTER TABLE todos ADD COLUMN attempts_pruned integer NOT NULL DEFAULT 0;
CREATE INDEX todos_attempts_kept ON todos ((attempts - attempts_pruned)) WHERE attempts - attempts_pruned > 5;
CREATE INDEX todo_events_without_todo ON todo_events (at, id) WHERE todo_id IS NULL;

-- One row: the highest id of an event that has been deleted. Whoever has read the log up to an earlier one must fetch anew.
CREATE TABLE event_log (
  name text PRIMARY KEY DEFAULT 'todo_events' CHECK (name = 'todo_events'),
  forgotten bigint NOT NULL DEFAULT 0
);
INSERT INTO event_log (forgotten) SELECT coalesce(min(id) - 1, 0) FROM todo_events;
