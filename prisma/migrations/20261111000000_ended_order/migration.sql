-- Lists of what has ended begin with what ended last.
CREATE INDEX todos_state_ended ON todos (state, completed_at DESC, id DESC) WHERE state IN ('completed', 'failed', 'canceled', 'rejected');
