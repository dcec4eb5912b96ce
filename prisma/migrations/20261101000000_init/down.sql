DROP TABLE todo_events;
DROP TABLE effects;
DROP TABLE interrupts;
DROP TABLE todo_attempts;
DROP TABLE todos;
DROP TABLE settings;
DROP TABLE endpoints;
DROP TABLE queues;
