// What a client says while a cluster is changing, in the words of each: the move is repeated, and never refused.
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { ValkeyConnection } from "../../lib/valkey/connection.ts";
import { valkeyFailure } from "../../lib/valkey/failures.ts";

const SAFE = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n";

const glide = (text: string) =>
  Object.assign(new Error(`An error was signalled by the server: - ${text}`), { name: "RequestError" });

const ERRORS = [
  new Error("MOVED 866 127.0.0.1:7001"),
  new Error("ASK 866 127.0.0.1:7001"),
  new Error("CLUSTERDOWN The cluster is down"),
  new Error("CLUSTERDOWN Hash slot not served"),
  new Error("TRYAGAIN Multiple keys request during rehashing of slot"),
  new Error("LOADING Redis is loading the dataset in memory"),
  new Error("READONLY You can't write against a read only replica."),
  new Error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
  new Error("UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"),
  new Error(
    "ERR WAIT cannot be used with replica instances. Please also note that writes to replicas are just local.",
  ),
  new Error(
    "ERR Script attempted to access a non local key in a cluster node script: f_1, on @user_script:1.",
  ),
  new Error("Lua script attempted to access a non local key in a cluster node"),
  new Error("ERR Script attempted to execute a write command while the cluster is down and readonly"),
  new Error("Too many Cluster redirections. Last error: ReplyError: MOVED 866 127.0.0.1:7001"),
  glide("Moved: 866 127.0.0.1:7001"),
  glide("TryAgain: Multiple keys request during rehashing of slot"),
  glide("ClusterDown: The cluster is down"),
  glide("MasterDown: Link with MASTER is down"),
  glide("ReadOnly: You can't write against a read only replica."),
  glide("BusyLoadingError: Redis is loading the dataset in memory"),
  glide("ResponseError: WAIT cannot be used with replica instances."),
];

const claim = { move: "claim", keys: ["r", "i"], words: ["token", "1", "1", "key", "claim"] } as const;

/** A server that says so `times` times before it answers. */
function changing(error: Error, times: number) {
  const clock = fakeClock();
  const asked: string[] = [];
  let left = times;
  const script = (command: readonly string[]) => {
    asked.push(command.at(-1) ?? "");
    if (left-- > 0) throw error;
    return ["1", "0"];
  };
  const client = {
    send: async (_: string, command: readonly string[]) => (command[0] === "INFO" ? SAFE : script(command)),
    sendTogether: async (_: string, [run = []]: readonly (readonly string[])[]) => [script(run), 1],
  };
  const settings = { client, prefix: "test", acceptedRisks: [], clock };
  const waiting = { ...settings, acknowledgedBy: { replicas: 1, timeoutMs: 100 } };
  return { clock, asked, plain: new ValkeyConnection(settings), waiting: new ValkeyConnection(waiting) };
}

describe.each(ERRORS)("a cluster that responds %s", (error) => {
  it("H96: N1: is asked again, and after a while the call fails in a way that may pass", async () => {
    const { clock, asked, plain } = changing(error, 3);
    expect(await clock.run(plain.run(claim))).toEqual(["1", "0"]);
    expect(asked).toEqual(Array(4).fill("claim"));

    const never = changing(error, Number.POSITIVE_INFINITY);
    await expect(never.clock.run(never.plain.run(claim))).rejects.toMatchObject({
      failure: "unreachable",
      retryable: true,
    });
    expect(valkeyFailure(error, "CLAIM", "test").message).not.toContain("will again");
  });

  it("H96: N1: with acknowledgedBy is asked by a single read first, from which the client learns where the key is", async () => {
    const { clock, asked, waiting } = changing(error, 1);

    expect(await clock.run(waiting.run(claim))).toEqual(["1", "0"]);
    expect(asked).toEqual(["claim", "find", "claim"]);
  });
});
