// The effects, counted outside of the process under test: its handlers ask this server for each order.
import { randomBytes, randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { serve } from "./contestant.ts";

/** What the body of a request may ask for. A tag comes back in the result. */
export interface Wish {
  /** The first call with this text fails. */
  readonly fail?: string;
  /** The order is made, and its maker never learns of it. */
  readonly hang?: string;
  readonly tag?: string;
  /** The length of the result. */
  readonly size?: number;
}

/** Long enough for every request of a race to arrive. */
const WORK_MS = 20;

/** Text that hardly compresses, as a document or a picture in a result. */
const paddingOf = (size: number) => randomBytes((size * 3) / 4).toString("base64");

export async function openOrderBook() {
  let orders = 0;
  const failed = new Set<string>();
  const hung = new Set<string>();
  const made: (() => void)[] = [];
  const { url, close } = await serve(async (request, response) => {
    if (request.method === "GET") return response.end(`${orders}`);
    const { fail, hang, tag, size } = JSON.parse(await text(request)) as Wish;
    await setTimeout(WORK_MS);
    if (fail !== undefined && !failed.has(fail)) {
      failed.add(fail);
      return response.writeHead(500).end();
    }
    const order = { id: ++orders, nonce: randomUUID(), tag, padding: size && paddingOf(size) };
    for (const listener of made.splice(0)) listener();
    if (hang !== undefined && !hung.has(hang)) return void hung.add(hang);
    response.end(JSON.stringify(order));
  });
  return {
    url,
    close,
    count: () => orders,
    /** Resolves when the next order is made, before its maker learns of it. */
    nextOrder: () => new Promise<void>((resolve) => void made.push(resolve)),
  };
}

export type OrderBook = Awaited<ReturnType<typeof openOrderBook>>;
