// The proxies between the functions and the queue and the gateway.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Carry, startMiddleman } from "../../../../../test/kit/faults/middleman.ts";
import { createGateway } from "../../../show/demo/gateway.ts";
import { paymentsQueue } from "../../../show/demo/payments-queue.ts";

/** A server that responds with the request, through a proxy. */
async function middlemanBefore(carry: Carry) {
  const server = createServer((request, response) => {
    response.writeHead(201, { "x-path": request.url ?? "" });
    request.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const middleman = await startMiddleman(carry);
  middleman.leadTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(async () => {
    await middleman.stop();
    server.close();
    server.closeAllConnections();
  });
  return middleman;
}

describe("startMiddleman", () => {
  it("hands a request on, and the answer back", async () => {
    const { endpoint } = await middlemanBefore((request, handOn) => handOn(request));

    const response = await fetch(`${endpoint}/some/path?and=query`, { method: "POST", body: "hello" });

    expect([response.status, response.headers.get("x-path")]).toEqual([201, "/some/path?and=query"]);
    expect(await response.text()).toBe("hello");
  });

  it("carries a different body, or its own response", async () => {
    const { endpoint } = await middlemanBefore(async (request, handOn) => {
      if (request.path === "/closed") return { status: 503, body: "closed" };
      return handOn({ ...request, body: `${request.body}!` });
    });

    const changed = await fetch(endpoint, { method: "POST", body: "hello" });
    const closed = await fetch(`${endpoint}/closed`);

    expect([await changed.text(), closed.status, await closed.text()]).toEqual(["hello!", 503, "closed"]);
  });

  it.each([
    ["that is to stay without an answer", async () => "no-answer" as const],
    ["that cannot be carried", () => Promise.reject(new Error("lost"))],
  ])("breaks the connection of a request %s", async (_, carry: Carry) => {
    const { endpoint } = await middlemanBefore(carry);

    await expect(fetch(endpoint)).rejects.toThrow("fetch failed");
  });
});

const batch = (...orderIds: string[]) => ({
  method: "POST",
  path: "/",
  headers: { "x-amz-target": "AmazonSQS.SendMessageBatch" },
  body: JSON.stringify({
    QueueUrl: "an address of ours",
    Entries: orderIds.map((orderId, index) => ({
      Id: `${index}`,
      MessageBody: JSON.stringify({ tenant: "acme", orderId }),
      MessageDeduplicationId: `dedup-${orderId}`,
    })),
  }),
});

/** Accepts all but the order "refused", and remembers what it had. */
async function accept({ body }: { readonly body: string }) {
  const { Entries } = JSON.parse(body) as { Entries: { Id: string; MessageDeduplicationId: string }[] };
  const Successful = Entries.filter(
    ({ MessageDeduplicationId }) => MessageDeduplicationId !== "dedup-refused",
  ).map(({ Id, MessageDeduplicationId }) => ({ Id, MessageId: `message of ${MessageDeduplicationId}` }));
  return { status: 200, body: JSON.stringify({ Successful }) };
}

describe("paymentsQueue", () => {
  it("records what the queue accepts, and which of it the queue had", async () => {
    const queue = paymentsQueue(1, 0);

    await queue.carry(batch("one", "refused"), accept);
    await queue.carry(batch("one"), accept);

    expect(queue.sends.map(({ orderId, isDropped }) => [orderId, isDropped])).toEqual([
      ["one", false],
      ["one", true],
    ]);
  });

  it("sends to the queue it leads to, whatever address is asked for", async () => {
    const queue = paymentsQueue(1, 0);
    const urls: unknown[] = [];
    queue.leadTo("the real queue");

    await queue.carry(batch("one"), (request) => {
      urls.push(JSON.parse(request.body).QueueUrl);
      return accept(request);
    });

    expect(urls).toEqual(["the real queue"]);
  });

  it("loses its share of answers after the queue has accepted, and the same for the same seed", async () => {
    const lossesOf = async (seed: number) => {
      const queue = paymentsQueue(seed, 0.2);
      const answers = [];
      for (let send = 0; send < 300; send++) answers.push(await queue.carry(batch(`${send}`), accept));
      expect(queue.sends).toHaveLength(300);
      expect(queue.lostAnswers).toBe(answers.filter((answer) => answer === "no-answer").length);
      return answers.map((answer) => answer === "no-answer");
    };

    const losses = await lossesOf(1);

    expect(Math.abs(losses.filter(Boolean).length / 300 - 0.2)).toBeLessThan(0.06);
    expect(await lossesOf(1)).toEqual(losses);
    expect(await lossesOf(2)).not.toEqual(losses);
  });
});

describe("createGateway", () => {
  const charge = (orderId: string) => ({ ...batch(), body: JSON.stringify({ orderId }) });
  const charged = async () => ({ status: 201, body: "charged" });

  it("rejects the configured charges, before they reach the gateway", async () => {
    const gateway = createGateway();
    const stop = gateway.on("poison", () => "refuse");

    const answers = [
      await gateway.carry(charge("poison"), charged),
      await gateway.carry(charge("other"), charged),
    ];
    stop();
    answers.push(await gateway.carry(charge("poison"), charged));

    expect(answers.map((answer) => answer !== "no-answer" && answer.status)).toEqual([503, 201, 201]);
    expect(gateway.refusals).toBe(1);
  });

  it("fixes a card after as many attempts at an order as fail under one key, if keys are new", async () => {
    const cardsOf = async (card: string, countsByOrder: boolean) => {
      const gateway = createGateway(countsByOrder);
      const cards: string[] = [];
      const charge = { ...batch(), body: JSON.stringify({ orderId: "order-1", card }) };
      for (let attempt = 0; attempt < 4; attempt++) {
        await gateway.carry(charge, async ({ body }) => {
          cards.push(JSON.parse(body).card.replace("card_", ""));
          return charged();
        });
      }
      return cards.join(" ");
    };

    expect(await cardsOf("card_fails_first", true)).toBe("fails_first fails_first ok ok");
    expect(await cardsOf("card_answer_lost", true)).toBe("answer_lost ok ok ok");
    expect(await cardsOf("card_declined", true)).toBe("declined declined declined declined");
    expect(await cardsOf("card_answer_lost", false)).toBe("answer_lost answer_lost answer_lost answer_lost");
  });
});
