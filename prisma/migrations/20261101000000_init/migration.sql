-- Switchboard's first schema. Guards read only the locked todo row, so what they need lives on it.
-- todo_attempts and todo_events carry no foreign key: both are written in the statement that writes the todo, and the
-- key's check would cost every claim and every transition a look-up.

CREATE TABLE queues (
  name text PRIMARY KEY CHECK (name ~ '^[a-z0-9._-]{1,64}$'),
  paused boolean NOT NULL DEFAULT false,
  max_claimed integer CHECK (max_claimed >= 1),
  default_lease_seconds integer CHECK (default_lease_seconds BETWEEN 1 AND 86400),
  max_attempts integer CHECK (max_attempts >= 1),
  description text,
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now()
);

CREATE TABLE endpoints (
  id text PRIMARY KEY,
  name text NOT NULL CHECK (name ~ '^[a-z0-9._-]{1,64}$'),
  token_hash text NOT NULL,
  scopes text[] NOT NULL,
  queues text[],
  default_lease_seconds integer CHECK (default_lease_seconds BETWEEN 1 AND 86400),
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  last_seen_at timestamptz(6),
  expires_at timestamptz(6),
  revoked_at timestamptz(6)
);
CREATE UNIQUE INDEX endpoints_name_key ON endpoints (name);
CREATE UNIQUE INDEX endpoints_token_hash_key ON endpoints (token_hash);

CREATE TABLE settings (
  key text PRIMARY KEY,
  value text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_by text
);

CREATE TABLE todos (
  id text PRIMARY KEY,
  queue text NOT NULL,
  kind text,
  title text NOT NULL,
  payload jsonb,
  priority smallint NOT NULL DEFAULT 0,
  idempotency_key text,
  assignee_endpoint_id text,
  created_by_endpoint_id text,
  parent_id text,
  depth smallint NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 16),
  live_children integer NOT NULL DEFAULT 0 CHECK (live_children >= 0),
  state text NOT NULL DEFAULT 'pending',
  owner text,
  owner_endpoint_id text,
  lease_epoch integer NOT NULL DEFAULT 0,
  lease_seconds integer NOT NULL CHECK (lease_seconds BETWEEN 1 AND 86400),
  lease_expires_at timestamptz(6),
  attempts integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  wait_expirations integer NOT NULL DEFAULT 0 CHECK (wait_expirations >= 0),
  max_attempts integer NOT NULL CHECK (max_attempts >= 1),
  available_at timestamptz(6) NOT NULL DEFAULT now(),
  deadline_at timestamptz(6),
  open_interrupt_id text,
  wait_until timestamptz(6),
  checkpoint jsonb,
  progress jsonb,
  budget jsonb,
  usage jsonb,
  result jsonb,
  error jsonb,
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  claimed_at timestamptz(6),
  state_since timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now(),
  completed_at timestamptz(6),
  CONSTRAINT todos_state_check CHECK (state IN ('pending', 'claimed', 'input-required', 'auth-required', 'waiting', 'completed', 'failed', 'canceled', 'rejected')),
  CONSTRAINT todos_interrupt_check CHECK ((open_interrupt_id IS NOT NULL) = (state IN ('input-required', 'auth-required'))),
  CONSTRAINT todos_lease_check CHECK (
    (owner IS NULL) = (lease_expires_at IS NULL)
    AND (owner IS NULL) = (owner_endpoint_id IS NULL)
    AND CASE state
          WHEN 'claimed' THEN owner IS NOT NULL
          WHEN 'input-required' THEN true
          WHEN 'auth-required' THEN true
          ELSE owner IS NULL
        END),
  CONSTRAINT todos_completed_check CHECK ((completed_at IS NOT NULL) = (state IN ('completed', 'failed', 'canceled', 'rejected'))),
  CONSTRAINT todos_error_check CHECK (state <> 'failed' OR error IS NOT NULL),
  CONSTRAINT todos_wait_until_check CHECK (wait_until IS NULL OR state IN ('input-required', 'auth-required')),
  CONSTRAINT todos_spent_check CHECK (
    CASE
      WHEN state IN ('pending', 'completed', 'failed', 'canceled', 'rejected') THEN failures <= max_attempts
      ELSE failures < max_attempts
    END)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- The claim's order, in one partial index; no index holds a column that a heartbeat writes, so that beats stay HOT.
CREATE INDEX todos_pending ON todos (queue, priority DESC, available_at, id) WHERE state = 'pending';
CREATE INDEX todos_claimed ON todos (id) WHERE state = 'claimed';
CREATE INDEX todos_available_at ON todos (available_at) WHERE state = 'pending';
-- IS TRUE, with statistics on the comparison: without them the planner takes a third of the pending rows for exhausted
-- and reads them all at every tick.
CREATE INDEX todos_exhausted ON todos (id) WHERE state = 'pending' AND (failures >= max_attempts) IS TRUE;
CREATE STATISTICS todos_spent ON (failures >= max_attempts) FROM todos;
CREATE INDEX todos_waiting ON todos (id) WHERE state = 'waiting';
CREATE INDEX todos_deadline_at ON todos (deadline_at) WHERE deadline_at IS NOT NULL AND state IN ('pending', 'claimed', 'input-required', 'auth-required', 'waiting');
CREATE INDEX todos_state_id ON todos (state, id);
CREATE INDEX todos_queue_state_id ON todos (queue, state, id);
CREATE INDEX todos_parent_id ON todos (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX todos_live_key ON todos (queue, idempotency_key)
  WHERE parent_id IS NULL AND idempotency_key IS NOT NULL AND state IN ('pending', 'claimed', 'input-required', 'auth-required', 'waiting');
CREATE UNIQUE INDEX todos_child_key ON todos (parent_id, idempotency_key) WHERE parent_id IS NOT NULL AND idempotency_key IS NOT NULL;

CREATE TABLE todo_attempts (
  todo_id text NOT NULL,
  seq integer NOT NULL,
  lease_epoch integer NOT NULL,
  owner text NOT NULL,
  endpoint_id text NOT NULL,
  request_id text,
  claimed_at timestamptz(6) NOT NULL DEFAULT now(),
  last_heartbeat_at timestamptz(6) NOT NULL DEFAULT now(),
  ended_at timestamptz(6),
  outcome text,
  disposition text,
  error jsonb,
  PRIMARY KEY (todo_id, seq),
  CONSTRAINT todo_attempts_outcome_check CHECK (outcome IN ('completed', 'failed', 'released', 'continued', 'reaped', 'expired', 'deadline', 'budget', 'canceled', 'revoked')),
  CONSTRAINT todo_attempts_disposition_check CHECK (disposition IN ('done', 'retry_scheduled', 'dead_lettered', 'requeued', 'canceled')),
  CONSTRAINT todo_attempts_ended_check CHECK ((ended_at IS NULL) = (outcome IS NULL) AND (ended_at IS NULL) = (disposition IS NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
CREATE UNIQUE INDEX todo_attempts_open ON todo_attempts (todo_id) WHERE ended_at IS NULL;
CREATE INDEX todo_attempts_request ON todo_attempts (endpoint_id, request_id) WHERE request_id IS NOT NULL AND ended_at IS NULL;

CREATE TABLE interrupts (
  id text PRIMARY KEY,
  todo_id text NOT NULL REFERENCES todos (id) ON DELETE CASCADE,
  attempt_seq integer NOT NULL,
  lease_epoch integer NOT NULL,
  request_id text,
  effect_key text,
  addressed_to text,
  kind text NOT NULL,
  mode text NOT NULL,
  status text NOT NULL DEFAULT 'open',
  title text NOT NULL,
  message text,
  schema jsonb,
  ui jsonb,
  url text,
  proposal jsonb,
  risk text NOT NULL DEFAULT 'medium',
  requested_by_endpoint_id text NOT NULL,
  requested_at timestamptz(6) NOT NULL DEFAULT now(),
  answered_at timestamptz(6),
  answered_by text,
  channel text,
  action text,
  content jsonb,
  comment text,
  CONSTRAINT interrupts_kind_check CHECK (kind IN ('input', 'auth', 'approval')),
  CONSTRAINT interrupts_mode_check CHECK (mode IN ('hold', 'park')),
  CONSTRAINT interrupts_status_check CHECK (status IN ('open', 'answered', 'resolved', 'expired', 'canceled')),
  CONSTRAINT interrupts_risk_check CHECK (risk IN ('low', 'medium', 'high', 'critical')),
  CONSTRAINT interrupts_channel_check CHECK (channel IN ('web', 'http', 'mcp', 'a2a')),
  CONSTRAINT interrupts_action_check CHECK (action IN ('accept', 'decline')),
  CONSTRAINT interrupts_answer_check CHECK ((status IN ('answered', 'resolved')) = (answered_at IS NOT NULL AND answered_by IS NOT NULL AND action IS NOT NULL))
);
CREATE UNIQUE INDEX interrupts_open ON interrupts (todo_id) WHERE status = 'open';
CREATE UNIQUE INDEX interrupts_request ON interrupts (todo_id, lease_epoch, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX interrupts_todo ON interrupts (todo_id, id);
CREATE INDEX interrupts_open_requested_at ON interrupts (requested_at) WHERE status = 'open';

CREATE TABLE effects (
  id text PRIMARY KEY,
  todo_id text NOT NULL REFERENCES todos (id) ON DELETE CASCADE,
  key text NOT NULL,
  idempotent boolean NOT NULL,
  status text NOT NULL DEFAULT 'begun',
  lease_epoch integer NOT NULL,
  request_id text,
  arguments_hash text,
  interrupt_id text,
  description text,
  result jsonb,
  begun_at timestamptz(6) NOT NULL DEFAULT now(),
  ended_at timestamptz(6),
  settled_by text,
  comment text,
  CONSTRAINT effects_status_check CHECK (status IN ('begun', 'confirmed', 'failed'))
);
CREATE UNIQUE INDEX effects_todo_id_key_key ON effects (todo_id, key);

-- The log: one row per committed fact. xid bounds a replay's start; ids alone are no cursor (a low one may commit late).
CREATE TABLE todo_events (
  id bigserial PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  todo_id text,
  queue text,
  verb text NOT NULL,
  from_state text,
  to_state text,
  reason text,
  actor text NOT NULL,
  attempt_seq integer,
  lease_epoch integer,
  data jsonb,
  at timestamptz(6) NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX todo_events_todo ON todo_events (todo_id, id) WHERE todo_id IS NOT NULL;
CREATE UNIQUE INDEX todo_events_fenced ON todo_events (todo_id, attempt_seq) WHERE verb = 'fenced';
