/**
 * The other systems of one run: records every call that arrives, and repeats its answer for a repeated key.
 */
import { isRead, operationOf } from "../aws/aws-operation.ts";
import type { Effect } from "./effect.ts";
import type { OutsideService } from "./options.ts";
import { plainText } from "./plain-value.ts";

interface OutsideCall {
  /** Or the operation of a service of AWS. */
  readonly method: string;
  readonly url: URL;
  readonly key: string | undefined;
  readonly body: string;
  /** The status of its response. */
  status?: number;
}

/** Parts of a path that name one thing: numbers, UUIDs, and texts that are long or mix letters and digits. */
const ID_SEGMENT = /\/(?:\d+|(?=[^/]*\d)[^/]{8,}|[^/]{24,})(?=\/|$)/g;

/** "https://api.example.com/orders/…" */
export function placeWithoutIds(url: string): string {
  return url.replace(ID_SEGMENT, "/…");
}

export class Outside {
  readonly #calls: OutsideCall[] = [];
  readonly #answers = new Map<string, Promise<Response>>();
  readonly #callKey: (request: Request) => string | null | undefined;

  constructor(callKey: ((request: Request) => string | null | undefined) | undefined) {
    this.#callKey = callKey ?? ((request) => request.headers.get("idempotency-key"));
  }

  /** Stands for the other system: the service, with a memory for keys. */
  remembering(service: OutsideService): OutsideService {
    return async (request) => {
      const bytes = new Uint8Array(await request.clone().arrayBuffer());
      const url = new URL(request.url);
      const method = operationOf({ method: request.method, url, headers: request.headers, body: bytes });
      if (isRead(method)) return service(request);
      const body = new TextDecoder().decode(bytes);
      const key = this.#callKey(request) ?? undefined;
      const call: OutsideCall = { method, url, key, body };
      this.#calls.push(call);
      const answer = await this.#answerTo(call, request, service);
      call.status = answer.status;
      return answer;
    };
  }

  async #answerTo(call: OutsideCall, request: Request, service: OutsideService): Promise<Response> {
    if (call.key === undefined) return service(request);
    const name = nameOf(call);
    const former = await this.#answers.get(name);
    if (former !== undefined && former.status < 500) return former.clone();
    const answer = Promise.resolve(service(request));
    this.#answers.set(name, answer);
    return (await answer).clone();
  }

  /** Calls with one key count once. A call that the other system refuses (4xx) has no effect. */
  effects(): Effect[] {
    const seen = new Set<string>();
    return this.#calls.flatMap((call): Effect[] => {
      if (Math.floor((call.status ?? 0) / 100) === 4) return [];
      const name = nameOf(call);
      if (call.key !== undefined && seen.has(name)) return [];
      seen.add(name);
      const { method, url, key = null, body } = call;
      const path = url.pathname.split("/").slice(1);
      const query = Object.fromEntries(url.searchParams);
      return [
        {
          kind: "call",
          place: `${method} ${url.origin}${placeWithoutIds(url.pathname)}`,
          content: { path, query, key, body: plainText(body) },
        },
      ];
    });
  }

  /** The keys of two different requests, as places. */
  reusedKeys(): string[] {
    const bodies = new Map<string, string>();
    const reused = new Set<string>();
    for (const call of this.#calls) {
      if (call.key === undefined) continue;
      const name = nameOf(call);
      const former = bodies.get(name);
      if (former !== undefined && former !== call.body) {
        reused.add(`${call.method} ${call.url.origin}${call.url.pathname}`);
      }
      bodies.set(name, call.body);
    }
    return [...reused];
  }
}

function nameOf({ method, url, key }: OutsideCall): string {
  return JSON.stringify([method, url.href, key]);
}
