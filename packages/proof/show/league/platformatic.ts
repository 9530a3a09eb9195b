// @platformatic/job-queue: `enqueueAndWait` answers a known id with the result it has. The reaper revives stalled jobs.
import { type Contestant, importPeer } from "./contestant.ts";
import { type Run, serveKeyed } from "./keyed.ts";

interface Part {
  start(): Promise<void>;
  stop(): Promise<void>;
}
interface Library {
  readonly Queue: new (
    options: object,
  ) => Part & {
    execute(work: (job: { readonly payload: unknown }) => Promise<unknown>): void;
    enqueueAndWait(id: string, payload: unknown, options: object): Promise<unknown>;
  };
  readonly Reaper: new (options: object) => Part;
  readonly RedisStorage: new (options: object) => object;
}

export const platformatic: Contestant = {
  ...{ library: "@platformatic/job-queue", adapter: "job id", store: "Valkey", profile: "none" },
  ...{ packages: ["@platformatic/job-queue"] },
  ...{ claimHas: "key", node: 24 },
  async start({ makeOrder, valkeyUrl, retentionSeconds = 3600 }) {
    const { Queue, Reaper, RedisStorage } = await importPeer<Library>("@platformatic/job-queue");
    const opened: Part[] = [];
    const open = async (name: string): Promise<Run> => {
      const storage = new RedisStorage({ url: valkeyUrl, keyPrefix: `${name}:` });
      const queue = new Queue({ storage, concurrency: 20, resultTTL: retentionSeconds * 1000 });
      const reaper = new Reaper({ storage, visibilityTimeout: 30_000 });
      queue.execute(({ payload }) => makeOrder(payload));
      for (const part of [queue, reaper]) {
        opened.push(part);
        (part as never as { on(event: string, listener: () => void): void }).on("error", () => undefined);
        await part.start();
      }
      return (id, body) => queue.enqueueAndWait(id, body, { timeout: 100_000 });
    };
    const runs = { "/orders": await open("orders"), "/refunds": await open("refunds") };
    return serveKeyed(runs, () => Promise.all(opened.map((each) => each.stop())));
  },
};
