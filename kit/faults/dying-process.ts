// A process with AWS clients that dies at one of its requests: it asks for nothing more, and hears no answer.

/** Any client of the SDK. */
interface Client {
  readonly config: object;
  send(command: never): Promise<unknown>;
}

export interface Death {
  /** At which request, from 1. */
  readonly at: number;
  /** Whether AWS still carries it out. */
  readonly isApplied: boolean;
}

export interface Process {
  /** The client as this process has it. */
  clientOf<C extends Client>(client: C): C;
  /** What the process answers; `undefined` if it died. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** So far. */
  requests(): number;
}

/** `before` is waited for before each request, and is told the name of its command. */
export function newProcess(death?: Death, before?: (command: string) => Promise<void>): Process {
  const never = new Promise<never>(() => {});
  let die = () => {};
  const died = new Promise<undefined>((resolve) => {
    die = () => resolve(undefined);
  });
  let requests = 0;
  let isDead = false;

  async function send(client: Client, command: never): Promise<unknown> {
    if (before) await before((command as object).constructor.name.replace(/Command$/, ""));
    if (isDead) return never;
    requests += 1;
    if (requests !== death?.at) {
      const answer = await client.send(command);
      return isDead ? never : answer;
    }
    isDead = true;
    if (death.isApplied) await client.send(command);
    die();
    return never;
  }

  return {
    clientOf: (client) =>
      ({ config: client.config, send: (command: never) => send(client, command) }) as never,
    run: (work) => Promise.race([died, work()]),
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
