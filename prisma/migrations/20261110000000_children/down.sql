DROP INDEX todos_max_seconds;
DROP INDEX todos_children_done;
