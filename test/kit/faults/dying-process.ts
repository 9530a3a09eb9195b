/** A process that dies at one of its requests: it asks for nothing more, and hears no answer. */
import type { Store } from "onceonly";
import { gate } from "../time/gate.ts";
import { intercepted } from "./faulty-store.ts";

/** Any client of the SDK. */
interface Client {
  readonly config: object;
  send(command: never): Promise<unknown>;
}

export interface Death {
  /** The number of the request, from 1. */
  readonly at: number;
  /** Whether the request is still carried out. */
  readonly isApplied: boolean;
}

export interface Process {
  /** The client as this process has it. */
  clientOf<C extends Client>(client: C): C;
  /** The store as this process has it. */
  storeOf<S extends Store<never>>(store: S): S;
  /** What the process answers; `undefined` if it died. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
  die(): void;
  isDead(): boolean;
  /** The number up to now. */
  requests(): number;
}

/** `before` gets the name of the command of each request, which waits for it. */
export function newProcess(death?: Death, before?: (command: string) => Promise<void>): Process {
  const never = new Promise<never>(() => {});
  const died = gate<undefined>();
  let requests = 0;
  let isDead = false;

  function die(): void {
    isDead = true;
    died.open(undefined);
  }

  async function ask(name: string, request: () => Promise<unknown>): Promise<unknown> {
    if (before) await before(name);
    if (isDead) return never;
    requests += 1;
    if (requests !== death?.at) {
      const answer = await request();
      return isDead ? never : answer;
    }
    isDead = true;
    if (death.isApplied) await request();
    die();
    return never;
  }

  const send = (client: Client, command: never) =>
    ask((command as object).constructor.name.replace(/Command$/, ""), () => client.send(command));

  return {
    clientOf: (client) =>
      ({ config: client.config, send: (command: never) => send(client, command) }) as never,
    storeOf: (store) => intercepted(store, ask),
    run: (work) => Promise.race([died.opened, work()]),
    die,
    isDead: () => isDead,
    requests: () => requests,
  };
}

/** Every death at one of `requests`, with the request carried out and without, and its name for a title. */
export function deathsAt(requests: readonly string[]): (readonly [title: string, death: Death])[] {
  return requests.flatMap((name, index) => [
    [`before ${name}`, { at: index + 1, isApplied: false }] as const,
    [`at ${name}, which is carried out`, { at: index + 1, isApplied: true }] as const,
  ]);
}
