-- What somebody ordered for many todos at once, and what became of each. The worker carries it out.
CREATE TABLE bulk_runs (
  id text PRIMARY KEY,
  action text NOT NULL CHECK (action IN ('cancel', 'requeue', 'reject')),
  reason text,
  filter jsonb,
  ordered_by jsonb NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'canceled')),
  matched integer NOT NULL CHECK (matched >= 0),
  done integer NOT NULL DEFAULT 0 CHECK (done >= 0),
  failed integer NOT NULL DEFAULT 0 CHECK (failed >= 0),
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now(),
  ended_at timestamptz(6),
  CHECK (done + failed <= matched),
  CHECK ((status = 'running') = (ended_at IS NULL))
);
CREATE INDEX bulk_runs_running ON bulk_runs (id) WHERE status = 'running';

CREATE INDEX bulk_runs_ended ON bulk_runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE bulk_results (
  bulk_id text NOT NULL REFERENCES bulk_runs (id) ON DELETE CASCADE,
  todo_id text NOT NULL,
  at timestamptz(6),
  code text,
  detail text,
  PRIMARY KEY (bulk_id, todo_id),
  CHECK (at IS NOT NULL OR code IS NULL)
);
CREATE INDEX bulk_results_left ON bulk_results (bulk_id, todo_id) WHERE at IS NULL;
CREATE INDEX bulk_results_failed ON bulk_results (bulk_id, todo_id) WHERE code IS NOT NULL;
