// Libraries that mock requests, beside a simulation. msw replaces the global `fetch`, and nock `http.request`. The technique of
// aws-sdk-client-mock is another `send` in the class of a client.
import http from "node:http";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import axios from "axios";
import { afterEach, describe, expect, it, vi } from "vitest";
import { removePatches } from "../../lib/simulator/patches/install.ts";
import { givenAws } from "./given.ts";

const ORIGIN = "https://pay.example";

/** Runs the code as a handler, beside what was mocked after the simulator came. */
async function simulated(work: () => unknown) {
  const aws = givenAws();
  aws.serve(ORIGIN, () => Response.json({ by: "simulation" }));
  const invocation = await aws.run(() => aws.lambda(async () => work()).invoke({}));
  return invocation as { readonly value?: unknown; readonly error?: Error };
}

const mocked = vi.fn(async () => Response.json({ by: "mock" }));
const ask = async () => (await fetch(`${ORIGIN}/charges`)).json();

afterEach(async () => {
  vi.unstubAllGlobals();
  mocked.mockClear();
  vi.restoreAllMocks();
  await removePatches();
});

describe("a simulation", () => {
  it("has its own fetch over a later one, which stays for code outside", async () => {
    givenAws();
    vi.stubGlobal("fetch", mocked);

    expect((await simulated(ask)).value).toEqual({ by: "simulation" });
    expect((await simulated(ask)).value).toEqual({ by: "simulation" });
    expect(mocked).not.toHaveBeenCalled();
    expect(await ask()).toEqual({ by: "mock" });
    expect(mocked).toHaveBeenCalledTimes(1);
  });

  it("reports what it does not have, though a mock would answer", async () => {
    vi.stubGlobal("fetch", mocked);

    const { error } = await simulated(() => fetch("https://mocked.example/"));

    expect(String(error?.cause)).toContain("nothing is served at https://mocked.example");
    expect(mocked).not.toHaveBeenCalled();
  });

  it("sees requests of node:http through another http.request", async () => {
    givenAws();
    const real = http.request;
    const seen = vi
      .spyOn(http, "request")
      .mockImplementation(((...given: Parameters<typeof real>) => real(...given)) as typeof real);

    expect((await simulated(async () => (await axios.get(`${ORIGIN}/charges`)).data)).value).toEqual({
      by: "simulation",
    });
    expect(seen.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it("refuses to run while the send of a client's class is mocked", async () => {
    const put = () => new DynamoDBClient().send(new PutItemCommand({ TableName: "a", Item: {} }));
    Object.defineProperty(DynamoDBClient.prototype, "send", { value: async () => ({}), configurable: true });
    try {
      await expect(simulated(put)).rejects.toThrow(
        "DynamoDBClient.prototype.send is a mock (from aws-sdk-client-mock, for example), so the simulation can't see its requests",
      );
    } finally {
      Reflect.deleteProperty(DynamoDBClient.prototype, "send");
    }
    expect((await simulated(() => "runs")).value).toBe("runs");
  });
});
