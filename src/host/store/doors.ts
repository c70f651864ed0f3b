import type { HostContext } from "../context.ts";
import { ClaimLostError, HostError } from "../errors.ts";
import type { ClaimLoss } from "../errors.ts";
import type {
  ClaimProof,
  ClaimRecord,
  CommandRecord,
  HostEpochRecord,
  Instant,
  RunRecord,
} from "../records.ts";
import type { Store } from "./store.ts";
import type { Tx } from "./tx.ts";

/** What a client says with every command. */
export interface CommandInput {
  /** Correlates logs. */
  readonly requestId: string;
  /** The same key is the same command for ever. */
  readonly key: string;
  /** Refuses the command when the run has moved on. */
  readonly expectedRevision?: number;
  /** Who asks, in words. */
  readonly client: string;
}

export interface CommandRequest {
  readonly command: CommandInput;
  readonly method: string;
  /** SHA-256 of the request's canonical fields: what makes a repeat a repeat. */
  readonly fingerprint: string;
  /** The run that the command is about; absent when it makes one, or is about none. */
  readonly runId?: string;
}

/** What a body says about its command, beside its writes. */
export interface CommandAnswer<T = unknown> {
  /** The run whose revision the receipt names; by default the request's. */
  readonly runId?: string;
  /** Further facts of the answer; stored with the receipt, so JSON only. */
  readonly extra?: T;
}

export interface CommandResult<T = unknown> {
  /** `adopted` is the stored answer to an earlier command with the same key. */
  readonly outcome: "committed" | "adopted";
  readonly runId?: string;
  readonly revision: number;
  readonly committedAt: Instant;
  readonly extra?: T;
}

/**
 * The door of clients. A repeat of a key gets the stored receipt, another content
 * under the same key is refused; both without running the body. Refusals are
 * not stored, so a refused command may be tried again under its key.
 */
export function command<T = unknown>(
  host: HostContext,
  request: CommandRequest,
  body: (tx: Tx, run: RunRecord | undefined) => CommandAnswer<T>,
): Promise<CommandResult<T>> {
  return write(host, request.method, (tx) => {
    const stored = tx.commands.get(request.command.key);
    if (stored !== undefined) return adopted<T>(stored, request);
    const answer = body(tx, targetOf(tx, request));
    const receipt = receiptOf(tx, { request, answer, committedAt: host.clock.now() });
    tx.put.command(receipt);
    return resultOf<T>("committed", receipt);
  });
}

function adopted<T>(stored: CommandRecord, request: CommandRequest): CommandResult<T> {
  if (stored.method === request.method && stored.fingerprint === request.fingerprint)
    return resultOf<T>("adopted", stored);
  throw new HostError(
    "IDEMPOTENCY_CONFLICT",
    `the key ${request.command.key} already belongs to another ${stored.method}; use a new key`,
    stored.runId === undefined ? {} : { runId: stored.runId },
  );
}

function targetOf(tx: Tx, { runId, command: input }: CommandRequest): RunRecord | undefined {
  if (runId === undefined) return undefined;
  const run = requireRun(tx, runId);
  if (input.expectedRevision !== undefined && input.expectedRevision !== run.revision)
    throw new HostError(
      "STALE_REVISION",
      `run ${runId} is at revision ${run.revision}, not ${input.expectedRevision}; look at it again`,
      { runId, revision: run.revision },
    );
  return run;
}

interface Answered {
  readonly request: CommandRequest;
  readonly answer: CommandAnswer;
  readonly committedAt: Instant;
}

function receiptOf(tx: Tx, { request, answer, committedAt }: Answered): CommandRecord {
  const runId = answer.runId ?? request.runId;
  return {
    key: request.command.key,
    method: request.method,
    fingerprint: request.fingerprint,
    // A run that the command deleted has no revision any more.
    revision: runId === undefined ? 0 : (tx.runs.get(runId)?.revision ?? 0),
    committedAt,
    ...(runId === undefined ? {} : { runId }),
    ...(answer.extra === undefined ? {} : { extra: JSON.stringify(answer.extra) }),
  };
}

function resultOf<T>(outcome: "committed" | "adopted", receipt: CommandRecord): CommandResult<T> {
  return {
    outcome,
    revision: receipt.revision,
    committedAt: receipt.committedAt,
    ...(receipt.runId === undefined ? {} : { runId: receipt.runId }),
    // Method and fingerprint are the same, so the stored facts are of this command's type.
    ...(receipt.extra === undefined ? {} : { extra: JSON.parse(receipt.extra) as T }),
  };
}

/** What a worker shows with a write. */
export interface Shown {
  readonly proof: ClaimProof;
  /** Number of the proposal; absent or 0 for what is not numbered and needs no stored answer. */
  readonly number?: number;
}

/**
 * The door of workers. A repeat of the last accepted proposal gets its stored
 * answer, also after its claim was released. Everything else must show the
 * run's present, unexpired claim, which is renewed in the same transaction;
 * otherwise ClaimLostError, and nothing has changed.
 */
export function claimed<T>(
  host: HostContext,
  name: string,
  { proof, number = 0 }: Shown,
  body: (tx: Tx, run: RunRecord, claim: ClaimRecord) => T,
): Promise<T> {
  return write(host, name, (tx) => {
    const open = tx.claims.open(proof.runId);
    const own = open?.generation === proof.generation ? open : earlierClaim(tx, proof);
    const repeated = storedAnswer(own, proof, number);
    // The answer was stored by the same numbered proposal of the same worker.
    if (repeated !== undefined) return JSON.parse(repeated) as T;
    const claim = fence(host, open, proof);
    const answer = body(tx, requireRun(tx, proof.runId), claim);
    const now = host.leaseNow();
    tx.put.claimChange(proof.runId, proof.generation, {
      heartbeat: now,
      expiry: now + host.settings.claimMs,
      ...(number === 0 ? {} : { lastNumber: number, lastAnswer: JSON.stringify(answer ?? null) }),
    });
    return answer;
  });
}

/** The claim by which the worker once had the run, released or not. */
function earlierClaim(tx: Tx, { runId, generation }: ClaimProof): ClaimRecord | undefined {
  return tx.claims.get(runId, generation);
}

function storedAnswer(
  claim: ClaimRecord | undefined,
  proof: ClaimProof,
  number: number,
): string | undefined {
  if (number === 0) return undefined;
  if (claim === undefined || ownerMismatch(claim, proof) !== undefined) return undefined;
  if (claim.lastNumber === number) return claim.lastAnswer;
  if (claim.lastNumber > number)
    throw new HostError(
      "REQUEST_INVALID",
      `proposal ${number} of run ${proof.runId} comes after ${claim.lastNumber}`,
      { runId: proof.runId },
    );
  return undefined;
}

/** Throws unless the proof is of the run's present claim and that has not expired. */
function fence(host: HostContext, claim: ClaimRecord | undefined, proof: ClaimProof): ClaimRecord {
  if (claim === undefined) throw lost("missing_authority", proof);
  const mismatch = ownerMismatch(claim, proof);
  if (mismatch !== undefined) throw lost(mismatch, proof);
  if (claim.generation !== proof.generation) throw lost("generation_changed", proof);
  if (claim.epoch !== host.epoch) throw lost("owner_changed", proof);
  if (claim.expiry <= host.leaseNow()) throw lost("expired", proof);
  return claim;
}

function ownerMismatch(claim: ClaimRecord, proof: ClaimProof): ClaimLoss | undefined {
  if (claim.workerId !== proof.workerId) return "owner_changed";
  if (claim.tokenHash !== proof.tokenHash) return "token_changed";
  return undefined;
}

function lost(loss: ClaimLoss, { runId, generation }: ClaimProof): ClaimLostError {
  return new ClaimLostError(loss, runId, generation);
}

/**
 * The door of the host to a run that nobody owns: without a claim, or with one
 * that has expired or belongs to an earlier host. That claim is closed and a new
 * generation taken before the body runs. A live claim is never taken this way.
 */
export function control<T>(
  host: HostContext,
  name: string,
  runId: string,
  body: (tx: Tx, run: RunRecord) => T,
): Promise<T> {
  return write(host, name, (tx) => {
    const run = requireRun(tx, runId);
    const claim = tx.claims.open(runId);
    if (claim !== undefined) {
      if (claim.epoch === host.epoch && claim.expiry > host.leaseNow())
        throw new ClaimLostError("owner_changed", runId, run.generation);
      tx.put.claimChange(runId, claim.generation, { released: true });
    }
    const generation = run.generation + 1;
    tx.put.runChange(runId, { generation });
    return body(tx, { ...run, generation });
  });
}

/** The door to rows that belong to no run. */
export function system<T>(host: HostContext, name: string, body: (tx: Tx) => T): Promise<T> {
  return write(host, name, body);
}

/**
 * The door of a host that begins: takes the next epoch. From its COMMIT on, no
 * host of an earlier epoch can write through any door.
 */
export function takeEpoch(store: Store, process: Omit<HostEpochRecord, "epoch">): Promise<number> {
  return store.write("epoch", (tx) => {
    const epoch = (tx.epochs.last()?.epoch ?? 0) + 1;
    tx.put.epoch({ ...process, epoch });
    return epoch;
  });
}

/** Whatever the lock file's fate, only the host of the newest epoch writes. */
function write<T>(host: HostContext, name: string, body: (tx: Tx) => T): Promise<T> {
  return host.store.write(name, (tx) => {
    const newest = tx.epochs.last()?.epoch ?? host.epoch;
    if (newest === host.epoch) return body(tx);
    const message = `a host of epoch ${newest} has taken over from this one (${host.epoch})`;
    throw new HostError("HOST_STOPPING", `${message}; call again`);
  });
}

function requireRun(tx: Tx, runId: string): RunRecord {
  const run = tx.runs.get(runId);
  if (run === undefined)
    throw new HostError("RUN_NOT_FOUND", `there is no run ${runId}`, { runId });
  return run;
}
