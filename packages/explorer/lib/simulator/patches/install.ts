/**
 * Installs the patches, once per process. Outside of scenes they change nothing, so they can stay installed: tests,
 * their runner and other code keep the system's time, randomness and network. The patches of the
 * network are applied when this module loads, so a module that keeps `fetch` for later keeps the patched one.
 */
import { syncBuiltinESMExports } from "node:module";
import { otherCopies } from "onceonly/kit";
import { patchDate } from "./date.ts";
import { refuseFakeTimers } from "./fake-timers.ts";
import { patchFetch } from "./fetch.ts";
import { patchNodeHttp } from "./node-http.ts";
import { patchProcesses } from "./processes.ts";
import { patchRandomness } from "./randomness.ts";
import { restoreAll } from "./replace.ts";
import { patchSdkClients, refuseMockedClients } from "./sdk-clients.ts";
import { patchSockets } from "./sockets.ts";
import { patchThreads } from "./threads.ts";
import { patchTimerPromises } from "./timer-promises.ts";
import { patchTimers } from "./timers.ts";
import { patchUncaughtErrors } from "./uncaught-errors.ts";

let clients: Promise<void> | undefined;
let hasNetwork = false;

installNetwork();

function installNetwork(): void {
  if (hasNetwork) return;
  hasNetwork = true;
  patchFetch();
  patchNodeHttp();
  patchSockets();
  patchProcesses();
  syncBuiltinESMExports();
}

/**
 * Takes effect immediately, except for AWS SDK clients: see `clientsPatched`.
 * @throws Error while a test runner's fake timers are on
 */
export function installPatches(): void {
  refuseFakeTimers();
  // Their patches replace each other, and each would leave the other's simulation to the system's time.
  const others = otherCopies("real work");
  if (others) throw new Error(`no simulation is running: two versions can't share this process${others}`);
  installNetwork();
  if (clients !== undefined) {
    patchFetch();
    return;
  }
  patchDate();
  patchTimers();
  patchTimerPromises();
  patchRandomness();
  patchThreads();
  patchUncaughtErrors();
  syncBuiltinESMExports();
  clients = patchSdkClients();
  clients.catch(() => undefined);
}

/** Removes all patches while no simulator runs. The next simulator installs them again. */
export async function removePatches(): Promise<void> {
  await clients?.catch(() => undefined);
  restoreAll();
  syncBuiltinESMExports();
  clients = undefined;
  hasNetwork = false;
}

/**
 * Resolves when the AWS SDK clients are patched too.
 * @throws Error if one of them is mocked
 */
export async function clientsPatched(): Promise<void> {
  await clients;
  refuseMockedClients();
}
