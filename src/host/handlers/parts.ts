/** What handlers are given by whoever builds the host. */
import type { HostContext } from "../context.ts";
import type { Inspection } from "../resolver.ts";
import type { WantedWorkflow } from "../supervisor/supervised-worker.ts";
import type { HeadlessPis } from "../headless/headless-pis.ts";
import type { SessionHub } from "../sessions/hub.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { LiveRuns } from "./live.ts";
import type { StreamCount } from "./stream-count.ts";
import type { ViewSources } from "./run-summary.ts";
import type { ResolvedRecord } from "./worker-convert.ts";

export interface HandlerParts {
  readonly host: HostContext;
  readonly live: LiveRuns;
  readonly supervisor: Pick<Supervisor, "readLog" | "followLog" | "live" | "removeLogs">;
  readonly resolver: WorkflowResolver;
  readonly streams: StreamCount;
  readonly control: HostControl;
  /** Tells whether a caller is a person's surface. */
  readonly capabilities: {
    issue(): string;
    revoke(capability: string): void;
    check(capability: string): boolean;
  };
  readonly sessions: SessionHub;
  /** The Pis of headless runs. */
  readonly headless: Pick<HeadlessPis, "live">;
}

/** Finds workflow files and has workers load them; its refusals are for the client. */
export interface WorkflowResolver {
  /** The file that a name or an absolute path means. Refuses as WORKFLOW_NOT_FOUND. */
  find(workflow: string, projectDir: string): string;
  /** What the file holds and how it takes the input. Refuses a file or input that cannot start. */
  load(request: LoadRequest): Promise<LoadedWorkflow>;
  /** All findings in the file, whatever they are. */
  inspect(want: WantedWorkflow): Promise<Inspection>;
}

export interface LoadRequest extends WantedWorkflow {
  readonly inputJson: string;
}

export interface LoadedWorkflow extends ResolvedRecord {
  /** Lets the run that is about to be admitted execute in the very worker that loaded the file. */
  offerTo(runId: string): void;
  /** Nobody needs that worker: there will be no such run. */
  discard(): void;
}

/** The host as a whole, as far as a client may ask about it or change it. */
export interface HostControl {
  readonly version: string;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly capacity: number;
  /** Age of a terminal run from which it may be pruned. */
  readonly retentionMs: number;
  state(): "serving" | "storage_stalled" | "stopping";
  /** Milliseconds since the host started, whatever the wall clock did. */
  uptimeMs(): number;
  /** Begins the stop and returns; a repeat changes nothing but the hurry. */
  shutDown(now: boolean): void;
}

export function viewSources({ host, live }: HandlerParts): ViewSources {
  return { reader: host.store.reader, live };
}
