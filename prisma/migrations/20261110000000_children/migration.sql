-- What the sweeps of children and budgets read: never every todo that waits, nor every one that is claimed. IS TRUE as in
-- todos_exhausted: without statistics on the comparison the planner would expect many.
CREATE INDEX todos_children_done ON todos (id) WHERE state = 'waiting' AND (live_children = 0) IS TRUE;
CREATE INDEX todos_max_seconds ON todos (id) WHERE state = 'claimed' AND (budget ? 'max_seconds') IS TRUE;

-- A sweep takes todos that have a family after the others: few, and found without another look at all that are live.
CREATE INDEX todos_families ON todos (id)
  WHERE (parent_id IS NOT NULL OR live_children <> 0) AND state IN ('pending', 'claimed', 'input-required', 'auth-required', 'waiting');
