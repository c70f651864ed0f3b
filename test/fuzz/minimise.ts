/** The shortest stream found that still does the same. */
import { connectionBytes, framesOf, PREFACE } from "./http2-bytes.ts";

/** Plays that one stream may cost. */
const PLAYS_MAX = 60;

export async function minimised(
  bytes: Buffer,
  does: (shorter: Buffer) => Promise<boolean>,
): Promise<Buffer> {
  let plays = 0;
  const tried = async (shorter: Buffer): Promise<boolean> => {
    plays += 1;
    return plays <= PLAYS_MAX && (await does(shorter));
  };
  const fewer = await withoutFrames(bytes, tried);
  return await withoutBytes(fewer, tried);
}

type Does = (shorter: Buffer) => Promise<boolean>;

/** Where frames hold everything, those that are not needed go. */
async function withoutFrames(bytes: Buffer, does: Does): Promise<Buffer> {
  let frames = framesOf(bytes.subarray(PREFACE.length));
  if (!connectionBytes(frames).equals(bytes)) return bytes;
  for (let at = frames.length - 1; at >= 0; at -= 1) {
    const fewer = frames.toSpliced(at, 1);
    if (await does(connectionBytes(fewer))) frames = fewer;
  }
  return connectionBytes(frames);
}

/** Halves, quarters and so on are left out, where the rest still does the same. */
async function withoutBytes(bytes: Buffer, does: Does): Promise<Buffer> {
  let shortest = bytes;
  for (let size = Math.floor(bytes.length / 2); size >= 8; size = Math.floor(size / 2)) {
    for (let at = shortest.length - size; at >= 0; at -= size) {
      const shorter = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + size)]);
      if (await does(shorter)) shortest = shorter;
    }
  }
  return shortest;
}
