DROP INDEX todos_ended;
