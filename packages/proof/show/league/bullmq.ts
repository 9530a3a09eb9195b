// BullMQ: a job id can be added once (docs.bullmq.io/guide/jobs/job-ids). The caller waits for the job's result.
import { type Contestant, loadPeer } from "./contestant.ts";
import { type Run, serveKeyed } from "./keyed.ts";

interface Closing {
  close(): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}
interface Job {
  waitUntilFinished(events: Closing, ms: number): Promise<unknown>;
}
interface Library {
  readonly Queue: new (
    name: string,
    options: object,
  ) => Closing & {
    add(name: string, data: unknown, options: object): Promise<Job>;
  };
  readonly QueueEvents: new (name: string, options: object) => Closing;
  readonly Worker: new (
    name: string,
    work: (job: { readonly data: unknown }) => Promise<unknown>,
    options: object,
  ) => Closing;
}

export const bullmq: Contestant = {
  ...{ library: "BullMQ", adapter: "job id", store: "Valkey", profile: "none", claimHas: "key" },
  ...{ packages: ["bullmq"] },
  async start({ makeOrder, valkeyUrl, retentionSeconds }) {
    const { Queue, QueueEvents, Worker } = loadPeer<Library>("bullmq");
    const connection = { connection: { url: valkeyUrl, maxRetriesPerRequest: null } };
    const opened: Closing[] = [];
    const open = async (name: string): Promise<Run> => {
      const [queue, events] = [new Queue(name, connection), new QueueEvents(name, connection)];
      const worker = new Worker(name, ({ data }) => makeOrder(data), { ...connection, concurrency: 20 });
      opened.push(queue, events, worker);
      await Promise.all([queue.waitUntilReady(), events.waitUntilReady(), worker.waitUntilReady()]);
      const kept = retentionSeconds === undefined ? {} : { removeOnComplete: { age: retentionSeconds } };
      return async (jobId, body) =>
        (await queue.add(name, body, { jobId, ...kept })).waitUntilFinished(events, 100_000);
    };
    const runs = { "/orders": await open("orders"), "/refunds": await open("refunds") };
    return serveKeyed(runs, () => Promise.all(opened.map((each) => each.close())));
  },
};
