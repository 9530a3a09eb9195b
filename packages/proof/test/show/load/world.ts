// A stand-in for the sample's API: responds as configured, and remembers every request.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface StoredOrder {
  readonly id: string;
  readonly key: string;
  readonly sku: string;
  readonly quantity: number;
  readonly totalCents: number;
  readonly state: string;
}

/** A POST's response; `undefined` breaks the connection. */
export type Answer =
  | { readonly status: 201; readonly order: StoredOrder }
  | { readonly status: number; readonly order?: undefined }
  | undefined;

export interface PostedOrder {
  readonly tenant: string;
  readonly key: string;
  readonly body: { readonly sku: string; readonly quantity: number; readonly card: string };
}

/** Orders by their ids are kept for GET; the server ends with the test. */
export async function startOrderServer(answerTo: (posted: PostedOrder) => Answer): Promise<string> {
  const orders = new Map<string, StoredOrder>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, body: object, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body));
    if (request.method === "GET") {
      const order = orders.get(String(request.url).replace("/orders/", ""));
      return void (order ? json(200, order) : json(404, { message: "no such order" }));
    }
    const answered = answerTo({
      tenant: String(request.headers.authorization).replace(/^Bearer (\w+)-.*$/, "$1"),
      key: String(request.headers["idempotency-key"]).replaceAll('"', ""),
      body: JSON.parse(await text(request)) as PostedOrder["body"],
    });
    if (!answered) return void request.socket.destroy();
    const { status, order } = answered;
    if (!order) return void json(status, { message: "no order" });
    orders.set(order.id, order);
    json(status, order, { location: `/orders/${order.id}` });
  }

  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
