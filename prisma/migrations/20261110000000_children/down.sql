DROP INDEX todos_families;
DROP INDEX todos_max_seconds;
DROP INDEX todos_children_done;
