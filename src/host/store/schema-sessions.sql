-- The second half of the schema: what joins runs to Pi sessions.

CREATE TABLE submissions (
  submission_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  interaction_id TEXT NOT NULL REFERENCES interactions (interaction_id) ON DELETE CASCADE,
  attempt_id TEXT NOT NULL REFERENCES attempts (attempt_id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('validating', 'accepted', 'rejected')),
  value_json TEXT,
  value_blob TEXT REFERENCES blobs (digest),
  digest TEXT NOT NULL CHECK (length(digest) = 64),
  client TEXT NOT NULL,
  session_id TEXT,
  -- Why it was rejected: by the author's code, or because its validation ended.
  reason TEXT CHECK (reason IN ('refused', 'validation_failed', 'interrupted', 'expired', 'cancelled')),
  error TEXT,
  received_at INTEGER NOT NULL,
  closed_at INTEGER,
  CHECK ((status = 'validating') = (closed_at IS NULL)),
  CHECK ((status = 'rejected') = (reason IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX submissions_one_validating ON submissions (run_id) WHERE status = 'validating';
CREATE INDEX submissions_by_interaction ON submissions (interaction_id, received_at);
CREATE INDEX submissions_by_run ON submissions (run_id);
CREATE INDEX submissions_by_attempt ON submissions (attempt_id);
CREATE INDEX submissions_value_blob ON submissions (value_blob) WHERE value_blob IS NOT NULL;

-- A Pi session, whether attached or not. Its facts are told by the extension.
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,
  cwd TEXT NOT NULL,
  -- Empty for a session that is kept in memory only.
  session_file TEXT NOT NULL,
  -- The run whose own headless Pi this is.
  headless_run TEXT,
  -- Grows with each change of the holder.
  coordinator_epoch INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL CHECK (status IN ('detached', 'attached')),
  -- Steps wait until then for a provider's limit.
  held_until INTEGER,
  held_for TEXT CHECK (held_for IN ('rate_limit', 'usage_limit')),
  -- Limits hit in a row, for the back-off.
  held_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((held_until IS NULL) = (held_for IS NULL))
) STRICT;
CREATE INDEX sessions_attached ON sessions (session_id) WHERE status = 'attached';
CREATE INDEX sessions_held ON sessions (held_until) WHERE held_until IS NOT NULL;
CREATE UNIQUE INDEX sessions_headless ON sessions (headless_run) WHERE headless_run IS NOT NULL;

CREATE TABLE messages (
  message_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (session_id),
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  interaction_id TEXT REFERENCES interactions (interaction_id) ON DELETE CASCADE,
  -- Order of creation within the store.
  position INTEGER NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('step', 'human_decision', 'notification', 'result')),
  reason TEXT NOT NULL
    CHECK (reason IN ('first', 'reminder', 'resumed', 'rate_limit', 'model_error')),
  status TEXT NOT NULL
    CHECK (status IN ('pending', 'offered', 'delivered', 'cancelled', 'superseded')),
  node TEXT NOT NULL,
  summary TEXT NOT NULL,
  text_json TEXT,
  text_blob TEXT REFERENCES blobs (digest),
  starts_turn INTEGER NOT NULL CHECK (starts_turn IN (0, 1)),
  available_at INTEGER,
  entry_id TEXT,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER,
  closed_at INTEGER,
  CHECK ((kind IN ('step', 'human_decision')) = (interaction_id IS NOT NULL)),
  CHECK ((status = 'delivered') <= (delivered_at IS NOT NULL)),
  CHECK ((status IN ('cancelled', 'superseded')) = (closed_at IS NOT NULL))
) STRICT;
-- One request is on its way at a time.
CREATE UNIQUE INDEX messages_one_open ON messages (interaction_id)
  WHERE interaction_id IS NOT NULL AND status IN ('pending', 'offered');
CREATE INDEX messages_by_run ON messages (run_id, position);
CREATE INDEX messages_by_interaction ON messages (interaction_id, position)
  WHERE interaction_id IS NOT NULL;
CREATE INDEX messages_open ON messages (session_id, position) WHERE status IN ('pending', 'offered');
CREATE INDEX messages_later ON messages (available_at)
  WHERE status = 'pending' AND available_at IS NOT NULL;
CREATE INDEX messages_by_session ON messages (session_id, position);
CREATE INDEX messages_text_blob ON messages (text_blob) WHERE text_blob IS NOT NULL;

-- One model turn per message that starts one.
CREATE TABLE turns (
  message_id TEXT PRIMARY KEY REFERENCES messages (message_id) ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES sessions (session_id),
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  interaction_id TEXT REFERENCES interactions (interaction_id) ON DELETE CASCADE,
  status TEXT NOT NULL
    CHECK (status IN ('open', 'completed', 'aborted', 'stopped', 'failed', 'lost')),
  -- Why the session is asked to stop it; absent while it may go on.
  abort_reason TEXT,
  error_json TEXT,
  opened_at INTEGER NOT NULL,
  closed_at INTEGER,
  CHECK ((status = 'open') = (closed_at IS NULL))
) STRICT;
CREATE INDEX turns_open ON turns (session_id) WHERE status = 'open';
CREATE INDEX turns_by_session ON turns (session_id);
CREATE INDEX turns_by_run ON turns (run_id);
CREATE INDEX turns_by_interaction ON turns (interaction_id) WHERE interaction_id IS NOT NULL;
