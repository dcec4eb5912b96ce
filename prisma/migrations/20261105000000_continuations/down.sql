DROP INDEX effects_interrupt;
ALTER TABLE effects DROP CONSTRAINT effects_ended_check;
ALTER TABLE effects DROP COLUMN endpoint_id;
ALTER TABLE interrupts ALTER COLUMN proposal TYPE jsonb USING proposal::jsonb;
ALTER TABLE interrupts ALTER COLUMN schema TYPE jsonb USING schema::jsonb;
