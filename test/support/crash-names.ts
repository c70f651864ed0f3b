/** What the source itself calls its transitions and the places at which a process may be told to die. */
import { CRASH_POINTS } from "../../src/platform/crash-points.ts";
import type { CrashPoint } from "../../src/platform/crash-points.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { SessionService } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { sourceFiles } from "../architecture/source-tree.ts";

const SERVICES = [RunService, InteractionService, SessionService, EffectService, HostService];

/** A call of a write door, whose second argument names the write. */
const DOOR_CALL = /\b(?:claimed|control|system|asOwner)(?:<[^>]*>)?\(\s*[\w.#]+,\s*([^,]+),/g;
/** A host takes its epoch before it has a door. */
const STORE_WRITE = /\bstore\.write(?:<[^>]*>)?\(\s*"(\w+)"/g;
/** The one name that is chosen among two. */
const CHOSEN = /const name = [^;]*\? "(\w+)" : "(\w+)"/g;
const POINT_CALL = /\bcrashPoint\(\s*"([\w.]+)"(?:,\s*"(\w+)")?/g;

/** Every name under which something is committed: transitions and commands. */
export function transitionsOfSource(): readonly string[] {
  const doors = sourceFiles("src/host").flatMap(({ path, text }) => namesIn(path, text));
  return [...new Set([...doors, ...commandNames()])].toSorted();
}

/** The literal details of every crash point in the source. */
export function pointsOfSource(): ReadonlyMap<CrashPoint, ReadonlySet<string>> {
  const found = new Map<CrashPoint, Set<string>>(CRASH_POINTS.map((name) => [name, new Set()]));
  for (const { text } of sourceFiles("src")) {
    for (const [, name = "", detail] of text.matchAll(POINT_CALL)) {
      // A name that is none of the list does not compile.
      const details = found.get(name as CrashPoint);
      if (detail !== undefined) details?.add(detail);
    }
  }
  return found;
}

function namesIn(path: string, text: string): readonly string[] {
  const chosen = [...text.matchAll(CHOSEN)].flatMap(([, one = "", other = ""]) => [one, other]);
  const called = [...text.matchAll(DOOR_CALL)].flatMap(([, name = ""]) => {
    const literal = /^"(\w+)"$/.exec(name)?.[1];
    if (literal !== undefined) return [literal];
    // A name that is handed on is found where it is given.
    if (name === "name" || name.includes(":")) return [];
    throw new Error(`${path}: a write under the name ${name} cannot be read here`);
  });
  const direct = [...text.matchAll(STORE_WRITE)].map(([, name = ""]) => name);
  return [...chosen, ...called, ...direct];
}

/** Methods whose request carries a command. */
function commandNames(): readonly string[] {
  return SERVICES.flatMap(({ methods }) =>
    methods.filter(({ input }) => input.field["command"] !== undefined).map(({ name }) => name),
  );
}
