/** Every bound of the host, named, with its reason. docs/protocol.md lists them. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Anything larger should be a file whose path travels. */
export const CLIENT_REQUEST_BYTES_MAX = 12 * MIB;
/** A worker's frame: one value of the largest size and its frame. */
export const WORKER_MESSAGE_BYTES_MAX = 12 * MIB;
/** An input, output, answer or result, as JSON text in UTF-8. */
export const VALUE_BYTES_MAX = 8 * MIB;
/** Values over this live in the blob table once. */
export const INLINE_VALUE_BYTES_MAX = 8 * KIB;
/** A client that opens more waits for its own streams to end. */
export const STREAMS_PER_CONNECTION_MAX = 64;
/** Connections at once; more are dropped, so that a flood does not use up the host's files. */
export const CONNECTIONS_MAX = 1_000;
/** A connection that has asked nothing for so long was not opened to ask something. */
export const FIRST_CALL_DEADLINE_MS = 10_000;
/** Connections the system holds for a host that is busy. */
export const LISTEN_BACKLOG = 511;
/** A reply: the largest value in its most wasteful encoding that clients still read. */
export const RESPONSE_BYTES_MAX = 32 * MIB;
/** Values are nested up to 500 levels, each of which takes three on the wire. */
export const WIRE_DEPTH_MAX = 2_000;
/** What open streams and idle connections get to end by themselves when the host stops. */
export const DRAIN_GRACE_MS = 150;
/** A watcher is sent at most so many states: eyes and terminals need no more. */
export const WATCH_INTERVAL_MS = 50;
/** What is no event (progress, output, a blocked loop) is looked at so often. */
export const WATCH_POLL_MS = 1_000;
/** Paths, in UTF-8 bytes; what Linux takes. */
export const PATH_BYTES_MAX = 4_096;
/** The files a host lives by are compared so often with the ones it opened. */
export const IDENTITY_CHECK_MS = 5_000;
/** Whether the host is needed is asked so often. */
export const IDLE_CHECK_MS = 1_000;
/** One small helping of clean-up of the database. */
export const MAINTENANCE_MS = 10_000;
/** Whether the daily sweep of old runs is due is asked so often. */
export const SWEEP_CHECK_MS = 60_000;
/** A write-ahead log of this size tells of a reader that does not let go. */
export const WAL_BYTES_NOTED = 64 * MIB;
/** A database that is locked when the host starts is waited for; a client waits longer. */
export const OPEN_BUDGET_MS = 20_000;
/** A longer answer schema is compiled for longer than a person waits. */
export const SCHEMA_BYTES_MAX = 256 * KIB;
/** Compiling a schema or checking an answer stops the host for at most so long. */
export const SCHEMA_CHECK_MS = 1_000;
/** Names, ids, keys and client names, in UTF-8 bytes. */
export const NAME_BYTES_MAX = 256;
/** The shortest id prefix that is looked up. */
export const ID_PREFIX_CHARS_MIN = 4;
/** A note on a cancel. */
export const NOTE_BYTES_MAX = 1 * KIB;
/** Text in views; the whole is behind an id. */
export const VIEW_TEXT_CHARS_MAX = 4 * KIB;
/** Message and stack of an error, each: what is longer is a payload and not an explanation. */
export const FAILURE_TEXT_CHARS_MAX = 16 * KIB;
/** Attempts in one view of a run. */
export const VIEW_ATTEMPTS_MAX = 200;
/** One update of a node. */
export const PROGRESS_TEXT_BYTES_MAX = 16 * KIB;
/** Newest progress of a node is written at most so often. */
export const PROGRESS_WRITE_INTERVAL_MS = 1_000;
/** First bytes kept of a worker's output. */
export const CAPTURE_HEAD_BYTES = 64 * KIB;
/** Last bytes kept of a worker's output. */
export const CAPTURE_TAIL_BYTES = 1 * MIB;
/** Output shown with a blocked run and in views. */
export const OUTPUT_TAIL_BYTES = 4 * KIB;
/** No call lives longer; streams are not calls. */
export const CALL_DEADLINE_MS = 600_000;
/** A frozen peer is seen within three of these. */
export const HEARTBEAT_MS = 10_000;
/** Workers that resolve a file for a start or a check, at the same time. */
export const RESOLVERS_MAX = 2;
/** Starts that wait for a resolver. */
export const RESOLVE_QUEUE_MAX = 256;
/** A workflow file that takes longer to load does something it should not. */
export const RESOLVE_DEADLINE_MS = 15_000;
/** A child that does not call back in this time will not. */
export const HANDSHAKE_DEADLINE_MS = 15_000;
/** Between SIGTERM and SIGKILL. */
export const KILL_GRACE_MS = 2_000;
/** What a stopping host gives effects that are being applied. */
export const STOP_EFFECT_GRACE_MS = 10_000;
/** Writes of one COMMIT; more wait for the next. */
export const BATCH_WRITES_MAX = 64;
/** How long a batch waits for somebody else's lock on the database. */
export const BUSY_BUDGET_MS = 20_000;
/** Launches without progress in a row before a run is blocked (state.md, "No progress"). */
export const NO_PROGRESS_MAX = 3;
/** Pause before a relaunch after the first, second and further interruption. */
export const INTERRUPT_BACKOFF_MS: readonly number[] = [0, 1_000, 5_000];
/** A back-off up to this is waited out in the worker; a longer one parks the run. */
export const WORKER_BACKOFF_MS_MAX = 5_000;
/** Largest page of any list. */
export const PAGE_MAX = 500;
export const PAGE_DEFAULT = 50;
/** Largest page of events. */
export const EVENT_PAGE_MAX = 1_000;
export const EVENT_PAGE_DEFAULT = 200;
/** Findings of one diagnosis. */
export const FINDINGS_MAX = 1_000;
/** Nodes of one workflow: beyond this the graph is generated and should loop instead. */
export const GRAPH_NODES_MAX = 2_000;
/** Parsed graphs kept in memory: more than can be executing, and still small. */
export const GRAPHS_KEPT_MAX = 128;
/** Runs in priority order. */
export const PRIORITY_ABS_MAX = 100;
/** What a stopping host gives workers that are not acting outside; they lose nothing by it. */
export const HOST_STOP_GRACE_MS = 100;
/** Reminders of one attempt: a model that ignored two will ignore a third. */
export const REMINDERS_MAX = 2;
/** Pause before a request is shown again after each failed model turn in a row; then it is given up. */
export const MODEL_BACKOFF_MS: readonly number[] = [2_000, 10_000, 30_000];
/** Lost turns in a row, without a completed one between them, after which a run is blocked. */
export const LOST_TURNS_MAX = 3;
/** Pause after each provider limit in a row when the provider does not say for how long. */
export const HOLD_BACKOFF_MS: readonly number[] = [
  30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
];
/** A provider that says to come back later than in a week means something else. */
export const HOLD_MS_MAX = 7 * 86_400_000;
/** Runs in the picture of one session: more than a widget has lines for. */
export const SESSION_RUNS_MAX = 16;
/** Messages whose place on the branch is asked for at once. */
export const OPEN_MESSAGES_MAX = 32;
/** Open requests and messages of one session that are looked at to choose the next. */
export const SESSION_ROWS_MAX = 256;
/** A session that was not opened for so long after a run's end is not waited for before it is deleted. */
export const UNTOLD_KEPT_MS = 365 * 86_400_000;
/** How long a run's end is news in its session. */
export const ENDED_NEWS_MS = 60_000;
/** A result that is older at its first chance is shown without a model turn: the talk has moved on. */
export const RESULT_TURN_AGE_MS_MAX = 600_000;
/** Attachments of one session: each is a Pi process that has it open. */
export const ATTACHMENTS_PER_SESSION_MAX = 8;
/** Heartbeats a holder may miss before a standby takes its place. */
export const BEATS_MISSED_MAX = 2;
/** What a model is asked in one step, in characters; more is a file that it reads. */
export const PROMPT_CHARS_MAX = 96_000;
/** One notification, in characters. */
export const NOTIFICATION_CHARS_MAX = 16_000;
/** The one line of a collapsed card, in characters. */
export const MESSAGE_SUMMARY_CHARS_MAX = 200;
/** Messages of one request that may stand in a session: its first, reminders and what is shown again. */
export const MESSAGES_OF_REQUEST_MAX = 100;
/** Choices of one decision: what a person can tell apart. */
export const CHOICES_MAX = 100;
/** Text that a choice asks for, in characters. */
export const CHOICE_TEXT_CHARS_MAX = 100_000;
/** A start of the same file with the same input in the same session within so long is the same start. */
export const RECENT_START_MS = 60_000;
/** A worker says within this whether a submission is valid; what takes longer is no check. */
export const VALIDATION_MS = 30_000;
/** Submissions validated at once beside the capacity, so that long work never holds an answer up. */
export const VALIDATION_PLACES = 2;
/** How long a headless run's Pi is kept between two steps, so that the next one need not wait for a start. */
export const HEADLESS_KEEP_MS = 10_000;
/** What a model may still say when its run has ended. */
export const HEADLESS_FAREWELL_MS = 60_000;
/** A Pi that has not attached by then, with all its extensions, will not. */
export const HEADLESS_ATTACH_MS = 60_000;
/** An attached Pi that leaves a due step untouched for so long is replaced. */
export const HEADLESS_UNTOUCHED_MS = 120_000;
/** Starts in a row that come to nothing, after which the step fails. */
export const HEADLESS_STARTS_MAX = 3;
/** Pause after the first, second and further failed start. */
export const HEADLESS_BACKOFF_MS: readonly number[] = [1_000, 5_000, 15_000];
