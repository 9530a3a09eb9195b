import { crc32 } from "node:zlib";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { connect } from "../../../../../test/kit/tables.ts";
import { startCannedDynamoDB } from "../../../measure/canned/canned-dynamodb.ts";
import type { Exchange } from "../../../measure/canned/exchange.ts";
import { recordAnswers } from "../../../measure/canned/record-answers.ts";
import { enter, Racer, type RaceTrack, race } from "../../../measure/timing/race.ts";
import { bundleProcess } from "../../../process-bundle.ts";

const EFFORT = { runs: 1, turns: 1, warmUpCalls: 2, calls: { 1: 2, 16: 16, 64: 64 } };
const CONTESTANTS = [
  "onceonly on its own client",
  "onceonly on the peer's client",
  "onceonly on the lean client",
  "limit: signed requests",
  "Powertools",
];

describe.each(inject("dynamodbEngines"))("a canned DynamoDB, recorded on $name", async ({ endpoint }) => {
  const client = connect(endpoint);
  const bundle = await bundleProcess("packages/proof/measure/timing/contestant-process.ts");
  const entries = await enter(client, "plain", CONTESTANTS);
  const exchanges = await recordAnswers(endpoint, async (recorder) => {
    for (const entry of entries) {
      const racer = new Racer(entry, { bundle, endpoint: recorder });
      await racer.turn({ calls: 1, callers: 1 }).finally(() => racer.stop());
    }
  });

  const start = async (options?: { overTls: boolean }) => {
    const canned = await startCannedDynamoDB(exchanges, options);
    onTestFinished(() => canned.stop());
    return canned;
  };

  it("has recorded a first run and a replay of each contestant", () => {
    const seen = exchanges.map(({ operation, status }) => `${operation} ${status}`);

    expect(seen).toEqual(CONTESTANTS.flatMap(() => ["PutItem 200", "UpdateItem 200", "PutItem 400"]));
  });

  it("answers the recorded requests as the engine did, and reports the requests it got", async () => {
    const canned = await start();

    const answers: Pick<Exchange, "status" | "body">[] = [];
    for (const { operation, request } of exchanges) {
      const headers = { "x-amz-target": `DynamoDB_20120810.${operation}` };
      const answer = await fetch(canned.endpoint, { method: "POST", headers, body: JSON.stringify(request) });
      const body = await answer.text();
      // Else no client would check it.
      expect(Number(answer.headers.get("x-amz-crc32"))).toBe(crc32(body));
      answers.push({ status: answer.status, body });
    }

    expect(answers).toEqual(exchanges.map(({ status, body }) => ({ status, body })));
    expect(await canned.asked()).toEqual({ PutItem: 10, UpdateItem: 5 });
    expect(await canned.asked()).toEqual({});
  });

  it.each([{ overTls: false }, { overTls: true }])("is raced against, $overTls", async ({ overTls }) => {
    const canned = await start({ overTls });

    const figures = await race(entries, { ...canned, bundle }, EFFORT, () => {});

    expect(Object.keys(figures)).toEqual(CONTESTANTS);
    for (const { firstRun, replay } of Object.values(figures)) {
      expect(firstRun[64][0]?.cpuMs).toBeGreaterThan(0);
      expect(replay[16][0]?.heapKb).toBeGreaterThan(0);
    }
  });

  it("ends the race when a contestant sent fewer requests than its work requires", async () => {
    const canned = await start();
    const asked = async () => ({ ...(await canned.asked()), UpdateItem: 0 });
    const track: RaceTrack = { ...canned, bundle, asked };

    const raced = race(entries, track, EFFORT, () => {});

    await expect(raced).rejects.toThrow(
      /"onceonly on its own client" did not do its work in 2 calls, firstRun/,
    );
  });
});
