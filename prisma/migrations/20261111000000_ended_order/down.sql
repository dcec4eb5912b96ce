DROP INDEX todos_state_ended;
