// Lambda answers over HTTP as https://docs.aws.amazon.com/lambda/latest/api/API_ListDurableExecutionsByFunction.html says,
// and the client is the SDK's own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Lambda } from "@aws-sdk/client-lambda";
import { type DurableExecutionStartedOptions, durableExecutionStarted } from "onceonly/reconciler";
import { describe, expect, it, onTestFinished } from "vitest";
import { questionAfter } from "./given.ts";

const FUNCTION_ARN = "arn:aws:lambda:eu-central-1:123456789012:function:fulfil:7";

const execution = (DurableExecutionName: string, Status = "RUNNING") => ({
  DurableExecutionArn: `${FUNCTION_ARN}/durable-execution/${DurableExecutionName}/0f1e2d`,
  DurableExecutionName,
  FunctionArn: FUNCTION_ARN,
  StartTimestamp: 1_700_000_000,
  Status,
});

/** Lists so many executions a page, whose names contain what is asked for. */
async function lambda(executions: ReturnType<typeof execution>[], refusal?: readonly [number, string]) {
  const requests: object[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url as string, "http://lambda");
    requests.push({ path: url.pathname, ...Object.fromEntries(url.searchParams) });
    if (refusal) {
      const [status, name] = refusal;
      response.writeHead(status, { "x-amzn-errortype": name, "content-type": "application/json" });
      response.end(JSON.stringify({ Type: "User", Message: "no" }));
      return;
    }
    const name = url.searchParams.get("DurableExecutionName") as string;
    const from = Number(url.searchParams.get("Marker") ?? 0);
    const found = executions.filter((each) => each.DurableExecutionName.includes(name));
    const NextMarker = from + 1 < found.length ? `${from + 1}` : undefined;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ DurableExecutions: found.slice(from, from + 1), NextMarker }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new Lambda({
    endpoint: `http://127.0.0.1:${port}`,
    region: "eu-central-1",
    credentials,
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { client, requests };
}

const verifierOf = (client: Lambda, more: Partial<DurableExecutionStartedOptions> = {}) =>
  durableExecutionStarted({
    client,
    functionName: "fulfil",
    qualifier: "7",
    name: () => "order-7",
    result: ({ DurableExecutionArn }) => ({ execution: DurableExecutionArn }),
    ...more,
  });

describe("durableExecutionStarted", () => {
  it.each(["RUNNING", "SUCCEEDED", "FAILED"])("H42: an execution that is %s was started", async (status) => {
    const { client, requests } = await lambda([execution("order-7", status)]);

    expect(await verifierOf(client)(questionAfter(0, {}))).toEqual({
      outcome: "happened",
      result: { execution: `${FUNCTION_ARN}/durable-execution/order-7/0f1e2d` },
      evidence: { asked: "ListDurableExecutionsByFunction", answered: status },
    });
    const path = "/2025-12-01/functions/fulfil/durable-executions";
    expect(requests).toEqual([{ path, Qualifier: "7", DurableExecutionName: "order-7" }]);
  });

  it("H42: an execution whose name only contains the name is another one, and all pages are read", async () => {
    const others = [execution("order-77"), execution("my-order-7")];
    const alone = await lambda(others);
    const last = await lambda([...others, execution("order-7")]);

    expect(await verifierOf(alone.client)(questionAfter(60, {}))).toMatchObject({
      outcome: "did-not-happen",
    });
    expect(await verifierOf(last.client)(questionAfter(0, {}))).toMatchObject({ outcome: "happened" });
    expect(last.requests).toMatchObject([{}, { Marker: "1" }, { Marker: "2" }]);
  });

  it("H42: a missing execution was not started, once the list has caught up", async () => {
    const { client } = await lambda([]);

    expect(await verifierOf(client)(questionAfter(10, {}))).toMatchObject({ outcome: "unknown" });
    expect(await verifierOf(client)(questionAfter(60, {}))).toEqual({
      outcome: "did-not-happen",
      evidence: { asked: "ListDurableExecutionsByFunction", answered: "no such execution" },
    });
  });

  it.each([
    [404, "ResourceNotFoundException"],
    [403, "AccessDeniedException"],
    [429, "TooManyRequestsException"],
  ])("leaves a refusal to its caller, even if the function does not exist: %i", async (status, name) => {
    const { client } = await lambda([], [status, name]);

    await expect(verifierOf(client)(questionAfter(600, {}))).rejects.toMatchObject({ name });
  });

  it("F6: looks at all versions of the function without a qualifier", async () => {
    const { client, requests } = await lambda([execution("order-7")]);
    const verify = verifierOf(client, { qualifier: undefined, name: () => "order-7" });

    expect(await verify(questionAfter(60, {}))).toMatchObject({ outcome: "happened" });
    expect(requests).toEqual([expect.not.objectContaining({ Qualifier: expect.anything() })]);
  });

  it("refuses options that cannot work", async () => {
    const { client } = await lambda([]);

    expect(() => verifierOf({} as Lambda)).toThrow("`client` must be");
    expect(() => verifierOf(client, { qualifier: "" })).toThrow("`qualifier`");
    expect(() => verifierOf(client, { functionName: "" })).toThrow("`functionName`");
  });
});
