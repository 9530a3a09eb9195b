// One request to a site, as a caller with a key sends it.
import type { Wish } from "./orders.ts";

export interface Reply {
  /** 0: no response came in time, or the connection ended. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export async function post(url: string, key: string, wish: Wish = {}, withinMs = 15_000): Promise<Reply> {
  const headers = { "content-type": "application/json", authorization: "ana", "idempotency-key": key };
  try {
    const signal = AbortSignal.timeout(withinMs);
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(wish), signal });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  } catch {
    return { status: 0, headers: new Headers(), body: "" };
  }
}

export const isSuccess = ({ status }: Reply) => status >= 200 && status < 300;
