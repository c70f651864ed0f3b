/** What tells the Pi that the host started for a headless run from every other Pi. */
import { newSecret, sha256Hex } from "../../platform/ids.ts";

/** Who shows a secret. */
export interface Bearer {
  readonly sessionId: string;
  readonly pid: number;
}

interface Issued {
  readonly runId: string;
  /** The first to show it; to everybody else it is worth nothing from then on. */
  usedBy?: Bearer;
}

/**
 * One secret for each Pi that is started for a run. It is of one use: that of the
 * process that shows it first, which may show it again when its stream broke.
 */
export class HeadlessSecrets {
  readonly #issued = new Map<string, Issued>();

  issue(runId: string): string {
    const secret = newSecret();
    this.#issued.set(sha256Hex(secret), { runId });
    return secret;
  }

  /** The process it was for has ended. */
  revoke(secret: string): void {
    this.#issued.delete(sha256Hex(secret));
  }

  /** The run whose own Pi this is; absent for a secret that is wrong, used or revoked. */
  redeem(secret: string, bearer: Bearer): string | undefined {
    const issued = this.#issued.get(sha256Hex(secret));
    if (issued === undefined) return undefined;
    issued.usedBy ??= bearer;
    const { usedBy, runId } = issued;
    const isSame = usedBy.pid === bearer.pid && usedBy.sessionId === bearer.sessionId;
    return isSame ? runId : undefined;
  }
}
