/** Enough for everything that was begun to settle, COMMITs and in-memory calls included. */
const TURNS = 14;

/** Resolves when everything that is ready has happened, files that are being read included. */
export async function settled(): Promise<void> {
  do {
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  } while (await waitedForFiles());
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** How long a file takes is nobody's seed: no step begins while one is read. */
async function waitedForFiles(): Promise<boolean> {
  let waited = false;
  while (process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"))) {
    waited = true;
    await nextTurn();
  }
  return waited;
}
