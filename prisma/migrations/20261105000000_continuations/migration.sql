-- What durable continuations need beyond the columns that were there from the start.
-- Forms and proposals are shown to people in the order the asker gave, which jsonb doesn't keep.
ALTER TABLE interrupts ALTER COLUMN schema TYPE json USING schema::json;
ALTER TABLE interrupts ALTER COLUMN proposal TYPE json USING proposal::json;

-- Who began an effect: its word about it counts even after the attempt is long pruned.
ALTER TABLE effects ADD COLUMN endpoint_id text;
UPDATE effects e SET endpoint_id = a.endpoint_id FROM todo_attempts a
WHERE a.todo_id = e.todo_id AND a.lease_epoch = e.lease_epoch;
UPDATE effects SET endpoint_id = '' WHERE endpoint_id IS NULL;
ALTER TABLE effects ALTER COLUMN endpoint_id SET NOT NULL;
ALTER TABLE effects ADD CONSTRAINT effects_ended_check CHECK ((ended_at IS NULL) = (status = 'begun'));

-- An approval covers one effect.
CREATE UNIQUE INDEX effects_interrupt ON effects (interrupt_id) WHERE interrupt_id IS NOT NULL;
