ALTER TABLE todos DROP COLUMN interrupted_at;
