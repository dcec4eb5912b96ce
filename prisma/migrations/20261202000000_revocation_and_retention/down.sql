DROP TABLE event_log;
DROP INDEX todo_events_without_todo;
DROP INDEX todos_attempts_kept;
ALTER TABLE todos DROP COLUMN attempts_pruned;
DROP INDEX todos_ended;
DROP INDEX todos_assignee;
DROP INDEX endpoints_expires_at;
DROP INDEX endpoints_unsettled;
ALTER TABLE endpoints DROP COLUMN settled_at;
