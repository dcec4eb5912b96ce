-- People who sign in. The tables are better-auth's, under our names; roles are ours. Sign-up is closed: a person comes
-- into being through an invitation, the first one through the link that an instance without an admin prints.
CREATE TABLE people (
  id text PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL,
  email_verified boolean NOT NULL DEFAULT false,
  image text,
  role text NOT NULL DEFAULT 'viewer',
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now(),
  CONSTRAINT people_role_check CHECK (role IN ('viewer', 'responder', 'operator', 'admin'))
);
CREATE UNIQUE INDEX people_email_key ON people (email);

CREATE TABLE sessions (
  id text PRIMARY KEY,
  person_id text NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  token text NOT NULL,
  expires_at timestamptz(6) NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX sessions_token_key ON sessions (token);
CREATE INDEX sessions_person_id_idx ON sessions (person_id);

CREATE TABLE accounts (
  id text PRIMARY KEY,
  person_id text NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  account_id text NOT NULL,
  provider_id text NOT NULL,
  access_token text,
  refresh_token text,
  access_token_expires_at timestamptz(6),
  refresh_token_expires_at timestamptz(6),
  scope text,
  id_token text,
  password text,
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX accounts_provider_id_account_id_key ON accounts (provider_id, account_id);
CREATE INDEX accounts_person_id_idx ON accounts (person_id);

CREATE TABLE verifications (
  id text PRIMARY KEY,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz(6) NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  updated_at timestamptz(6) NOT NULL DEFAULT now()
);
CREATE INDEX verifications_identifier_idx ON verifications (identifier);

CREATE TABLE rate_limits (
  id text PRIMARY KEY,
  key text NOT NULL,
  count integer NOT NULL,
  last_request bigint NOT NULL
);
CREATE UNIQUE INDEX rate_limits_key_key ON rate_limits (key);

CREATE TABLE invitations (
  id text PRIMARY KEY,
  token_hash text NOT NULL,
  role text NOT NULL,
  created_by text,
  created_at timestamptz(6) NOT NULL DEFAULT now(),
  expires_at timestamptz(6) NOT NULL,
  used_at timestamptz(6),
  CONSTRAINT invitations_role_check CHECK (role IN ('viewer', 'responder', 'operator', 'admin'))
);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);

-- What every web process of one instance must share, such as the key that signs session cookies.
CREATE TABLE secrets (
  name text PRIMARY KEY,
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT now()
);
