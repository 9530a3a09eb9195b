// A host: one process after the other, each with its own clock, with one proxy in front of the database and one in front of
// the queues.
import {
  type FaultProxy,
  type ObservedAnswer,
  type ObservedRequest,
  type ProxyFault,
  startFaultProxy,
} from "../../../local/lib/fault-proxy.ts";
import type { FromHands, ToHands } from "./asking.ts";
import { type HandProcess, startHandProcess } from "./hand-process.ts";
import type { WorldOptions } from "./hands/world.ts";

export interface HostOptions {
  readonly number: number;
  readonly bundle: string;
  /** The database and the queues themselves, past the proxies. */
  readonly dynamodb: string;
  readonly sqs: string | undefined;
  readonly world: Omit<WorldOptions, "dynamodb" | "sqs" | "skewMs">;
  /** How far the next process is ahead. */
  readonly skewMs: () => number;
  readonly decide: (host: Host, request: ObservedRequest) => ProxyFault;
  readonly decideForQueues: (host: Host, request: ObservedRequest) => ProxyFault;
  readonly onAnswer: (host: Host, request: ObservedRequest, answer: ObservedAnswer) => void;
  /** Called with a process that ended without being killed. */
  readonly onEndedByItself: (lastWords: string) => void;
}

export interface Host {
  readonly number: number;
  readonly isStopped: boolean;
  readonly skewMs: number;
  /** `undefined` if its process was killed. */
  ask(id: number, message: ToHands, onProgress: (message: FromHands) => void): Promise<FromHands | undefined>;
  /** SIGSTOP, and SIGCONT that much later, or when the host is calmed. */
  stopFor(ms: number): void;
  /** SIGKILL; another process takes its place. */
  kill(): void;
  goOn(): void;
  /** Passes on the requests that its proxies hold back. */
  flush(): Promise<void>;
  requests(): number;
  end(): Promise<void>;
}

export async function startHost(options: HostOptions): Promise<Host> {
  const { number, bundle, skewMs } = options;
  let isEnding = false;
  let timer: NodeJS.Timeout | undefined;
  let skew = 0;
  let current: HandProcess;

  const proxy = await startFaultProxy({
    target: options.dynamodb,
    decide: (request) => options.decide(host, request),
    onAnswer: (request, answer) => options.onAnswer(host, request, answer),
  });
  const toQueues =
    options.sqs === undefined
      ? undefined
      : await startFaultProxy({
          target: options.sqs,
          decide: (request) => options.decideForQueues(host, request),
        });
  const proxies = [proxy, toQueues].filter((each): each is FaultProxy => each !== undefined);

  function start(): HandProcess {
    skew = skewMs();
    const process = startHandProcess(bundle, {
      ...options.world,
      dynamodb: proxy.endpoint,
      ...(toQueues && { sqs: toQueues.endpoint }),
      skewMs: skew,
    });
    void process.ended.then((lastWords) => {
      if (lastWords !== undefined) options.onEndedByItself(lastWords);
      if (!isEnding) current = start();
    });
    return process;
  }

  const host: Host = {
    number,
    get isStopped() {
      return current.isStopped;
    },
    get skewMs() {
      return skew;
    },
    ask: (id, message, onProgress) => current.ask(id, message, onProgress),
    stopFor(ms) {
      if (current.isStopped) return;
      current.stop();
      timer = setTimeout(host.goOn, ms);
    },
    kill() {
      clearTimeout(timer);
      current.kill();
    },
    goOn() {
      clearTimeout(timer);
      if (current.isStopped) current.goOn();
    },
    async flush() {
      await Promise.all(proxies.map((each) => each.flush()));
    },
    requests: () => proxies.reduce((sum, each) => sum + each.counts().requests, 0),
    async end() {
      isEnding = true;
      clearTimeout(timer);
      current.kill();
      await current.ended;
      await Promise.all(proxies.map((each) => each.stop()));
    },
  };
  current = start();
  return host;
}
