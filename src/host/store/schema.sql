-- Schema version 1. The digest of this text is stored in meta; a database with
-- another digest is refused before any write (state.md, "Tables").
-- Times are milliseconds since 1970 unless a column says otherwise.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE host_epochs (
  epoch INTEGER PRIMARY KEY,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

CREATE TABLE blobs (
  digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
  bytes BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  position INTEGER NOT NULL UNIQUE,
  workflow TEXT NOT NULL,
  title TEXT NOT NULL,
  workflow_path TEXT NOT NULL,
  project_dir TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'starting', 'running', 'waiting', 'paused',
    'blocked', 'completed', 'failed', 'timed_out', 'cancelled')),
  pause_requested INTEGER NOT NULL DEFAULT 0 CHECK (pause_requested IN (0, 1)),
  block_reason TEXT CHECK (block_reason IN ('source_changed', 'effect_ambiguous',
    'effect_conflict', 'no_progress')),
  detail TEXT,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  boundary INTEGER NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL DEFAULT 0,
  available_at INTEGER NOT NULL,
  node TEXT NOT NULL,
  visit INTEGER NOT NULL CHECK (visit >= 1),
  steps INTEGER NOT NULL CHECK (steps >= 1),
  routing INTEGER NOT NULL DEFAULT 0 CHECK (routing IN (0, 1)),
  activation TEXT NOT NULL DEFAULT 'start'
    CHECK (activation IN ('start', 'continue', 'answered', 'expired', 'verdict', 'validate')),
  use_recorded INTEGER NOT NULL DEFAULT 0 CHECK (use_recorded IN (0, 1)),
  no_progress INTEGER NOT NULL DEFAULT 0,
  graph_json TEXT NOT NULL,
  graph_digest TEXT NOT NULL,
  input_json TEXT,
  input_blob TEXT REFERENCES blobs (digest),
  input_digest TEXT NOT NULL,
  result_json TEXT,
  result_blob TEXT REFERENCES blobs (digest),
  error_json TEXT,
  changed_files_json TEXT,
  restarted_from TEXT,
  mode TEXT NOT NULL CHECK (mode IN ('headless', 'session')),
  -- The Pi session that shows the run's steps; of a headless run the host's own.
  origin_session TEXT REFERENCES sessions (session_id),
  model_json TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK ((status = 'blocked') = (block_reason IS NOT NULL)),
  CHECK ((status IN ('completed', 'failed', 'timed_out', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK (pause_requested = 0 OR status = 'running'),
  CHECK ((mode = 'session') <= (origin_session IS NOT NULL)),
  CHECK (activation <> 'validate' OR routing = 0),
  CHECK ((input_json IS NULL) <> (input_blob IS NULL))
) STRICT;

CREATE INDEX runs_queue ON runs (priority DESC, available_at, position) WHERE status = 'queued';
CREATE INDEX runs_by_status ON runs (status, position);
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_by_project ON runs (project_dir, position);
CREATE INDEX runs_by_session ON runs (origin_session, position) WHERE origin_session IS NOT NULL;
CREATE INDEX runs_input_blob ON runs (input_blob) WHERE input_blob IS NOT NULL;
CREATE INDEX runs_result_blob ON runs (result_blob) WHERE result_blob IS NOT NULL;

CREATE TABLE run_sources (
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'package')),
  digest TEXT REFERENCES blobs (digest),
  size INTEGER NOT NULL,
  package_name TEXT,
  package_version TEXT,
  PRIMARY KEY (run_id, path),
  CHECK ((kind = 'file') = (digest IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX run_sources_blob ON run_sources (digest) WHERE digest IS NOT NULL;

CREATE TABLE run_progress (
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  node TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  attempt_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  node TEXT NOT NULL,
  visit INTEGER NOT NULL CHECK (visit >= 1),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  status TEXT NOT NULL CHECK (status IN ('running', 'waiting', 'ok', 'failed', 'timed_out',
    'interrupted', 'cancelled')),
  generation INTEGER NOT NULL,
  timeout_ms INTEGER,
  output_json TEXT,
  output_blob TEXT REFERENCES blobs (digest),
  error_json TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  UNIQUE (run_id, ordinal),
  UNIQUE (run_id, node, visit, attempt),
  CHECK ((status IN ('running', 'waiting')) = (finished_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX attempts_one_open ON attempts (run_id) WHERE status IN ('running', 'waiting');
CREATE INDEX attempts_output_blob ON attempts (output_blob) WHERE output_blob IS NOT NULL;

CREATE TABLE claims (
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  generation INTEGER NOT NULL CHECK (generation >= 1),
  epoch INTEGER NOT NULL,
  worker_id TEXT NOT NULL,
  token_hash TEXT NOT NULL CHECK (length(token_hash) = 64),
  -- Lease time of the host epoch, not wall time.
  acquired INTEGER NOT NULL,
  heartbeat INTEGER NOT NULL,
  expiry INTEGER NOT NULL,
  released INTEGER NOT NULL DEFAULT 0 CHECK (released IN (0, 1)),
  last_number INTEGER NOT NULL DEFAULT 0,
  last_answer TEXT,
  PRIMARY KEY (run_id, generation)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX claims_one_open ON claims (run_id) WHERE released = 0;

CREATE TABLE workers (
  worker_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  exit_code INTEGER,
  exit_signal TEXT,
  exit_reason TEXT
) STRICT;
CREATE INDEX workers_by_run ON workers (run_id, started_at);
CREATE INDEX workers_live ON workers (worker_id) WHERE ended_at IS NULL;

CREATE TABLE interactions (
  interaction_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  attempt_id TEXT NOT NULL REFERENCES attempts (attempt_id) ON DELETE CASCADE,
  node TEXT NOT NULL,
  visit INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('agent', 'reply', 'checkpoint', 'human_decision')),
  status TEXT NOT NULL
    CHECK (status IN ('pending', 'validating', 'accepted', 'expired', 'cancelled')),
  summary TEXT NOT NULL,
  request_json TEXT,
  request_blob TEXT REFERENCES blobs (digest),
  schema_json TEXT,
  schema_blob TEXT REFERENCES blobs (digest),
  -- What the request consists of beside that, by kind: see InteractionContract.
  contract_json TEXT,
  contract_blob TEXT REFERENCES blobs (digest),
  -- The answer that the policy gives at deadline_at instead of expiring.
  default_json TEXT,
  answer_json TEXT,
  answer_blob TEXT REFERENCES blobs (digest),
  answer_digest TEXT,
  answered_by TEXT,
  deadline_at INTEGER,
  -- Why the newest submission was rejected.
  last_error TEXT,
  reminders INTEGER NOT NULL DEFAULT 0,
  -- In a row, without a completed turn between them.
  model_errors INTEGER NOT NULL DEFAULT 0,
  lost_turns INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  closed_at INTEGER,
  CHECK ((status IN ('pending', 'validating')) = (closed_at IS NULL)),
  CHECK ((status = 'accepted') = (answer_digest IS NOT NULL)),
  CHECK (status <> 'validating' OR kind = 'agent'),
  CHECK (default_json IS NULL OR (kind = 'human_decision' AND deadline_at IS NOT NULL))
) STRICT;
CREATE INDEX interactions_by_run ON interactions (run_id, interaction_id);
CREATE INDEX interactions_by_attempt ON interactions (attempt_id);
CREATE UNIQUE INDEX interactions_one_open ON interactions (run_id)
  WHERE status IN ('pending', 'validating');
CREATE INDEX interactions_due ON interactions (deadline_at)
  WHERE status = 'pending' AND deadline_at IS NOT NULL;
CREATE INDEX interactions_request_blob ON interactions (request_blob)
  WHERE request_blob IS NOT NULL;
CREATE INDEX interactions_schema_blob ON interactions (schema_blob) WHERE schema_blob IS NOT NULL;
CREATE INDEX interactions_contract_blob ON interactions (contract_blob)
  WHERE contract_blob IS NOT NULL;
CREATE INDEX interactions_answer_blob ON interactions (answer_blob) WHERE answer_blob IS NOT NULL;

CREATE TABLE timers (
  timer_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  attempt_id TEXT NOT NULL REFERENCES attempts (attempt_id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('wait', 'retry')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'fired', 'cancelled')),
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  closed_at INTEGER,
  CHECK ((status = 'pending') = (closed_at IS NULL))
) STRICT;
CREATE INDEX timers_by_run ON timers (run_id);
CREATE INDEX timers_by_attempt ON timers (attempt_id);
CREATE UNIQUE INDEX timers_one_open ON timers (run_id) WHERE status = 'pending';
CREATE INDEX timers_due ON timers (due_at) WHERE status = 'pending';

CREATE TABLE effects (
  effect_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  node TEXT NOT NULL,
  visit INTEGER NOT NULL,
  type TEXT NOT NULL,
  policy TEXT NOT NULL CHECK (policy IN ('idempotent', 'manual')),
  key TEXT NOT NULL UNIQUE,
  fingerprint TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'applying', 'applied', 'rejected',
    'cancelled', 'ambiguous')),
  observable INTEGER NOT NULL DEFAULT 0 CHECK (observable IN (0, 1)),
  unknown_before INTEGER NOT NULL DEFAULT 0 CHECK (unknown_before IN (0, 1)),
  receipt_json TEXT,
  receipt_blob TEXT REFERENCES blobs (digest),
  detail TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX effects_by_run ON effects (run_id);
CREATE INDEX effects_receipt_blob ON effects (receipt_blob) WHERE receipt_blob IS NOT NULL;
CREATE INDEX effects_unsettled ON effects (status, run_id)
  WHERE status IN ('pending', 'applying', 'ambiguous');

CREATE TABLE effect_attempts (
  effect_id TEXT NOT NULL REFERENCES effects (effect_id) ON DELETE CASCADE,
  attempt_id TEXT NOT NULL REFERENCES attempts (attempt_id) ON DELETE CASCADE,
  application INTEGER NOT NULL,
  pid INTEGER,
  start_time TEXT,
  boot_id TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT CHECK (outcome IN ('applied', 'rejected', 'unknown')),
  PRIMARY KEY (effect_id, application)
) STRICT, WITHOUT ROWID;
CREATE INDEX effect_attempts_by_attempt ON effect_attempts (attempt_id);

-- Receipts outlive their run, so that a repeated key is recognised for ever.
CREATE TABLE commands (
  key TEXT PRIMARY KEY,
  method TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  run_id TEXT,
  revision INTEGER NOT NULL,
  committed_at INTEGER NOT NULL,
  extra_json TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  node TEXT,
  data_json TEXT NOT NULL,
  UNIQUE (run_id, revision)
) STRICT;

-- Runs that prune is deleting; only their events may go.
CREATE TABLE pruned_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
