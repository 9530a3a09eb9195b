/** What every check works with: requests to the server under test, and a way to count the effects of a key. */
import { type Clock, systemRandom } from "onceonly/kit";
import { curl, variable, variableOf } from "./curl.ts";
import { type Convention, jsonObject } from "./profiles.ts";
import { type Answer, type Header, type Request, send, sendAndLeave, sendRaw } from "./send.ts";

export interface LabOptions {
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly Header[];
  /** Replace those of the same name, for requests of another caller. Absent if there is no other caller. */
  readonly otherCaller: readonly Header[] | undefined;
  readonly keyHeader: string;
  readonly convention: Convention;
  readonly body: string;
  /** Another valid request. */
  readonly otherBody: string;
  /** Its response is the number of effects so far. @default - effects are distinguished by the responses */
  readonly effects: URL | undefined;
  /** Where a response has the id of its effect. @default - the whole response */
  readonly idPath: readonly string[] | undefined;
  readonly concurrency: number;
  readonly expiresAfterSeconds: number | undefined;
  readonly clock: Clock;
}

export interface Ask {
  /** Header values as they are sent: several make several lines, none leaves the header out. */
  readonly keys?: readonly string[];
  /** Sends the other body. */
  readonly isOtherBody?: boolean;
  readonly isOtherCaller?: boolean;
}

const PLAIN_HEADERS = ["content-type", "accept"];
/** A server may be busy with the first request: https://www.rfc-editor.org/rfc/rfc6585#section-4 and the like */
const LATER = [409, 425, 429, 503];
const RETRIES = 40;
const RETRY_MS = 250;

export class Lab {
  readonly options: LabOptions;
  readonly #fresh: string[] = [];

  constructor(options: LabOptions) {
    this.options = options;
  }

  /** A key that was never used, as the convention writes it. */
  key(): string {
    const key = systemRandom.token();
    this.#fresh.push(key);
    return this.written(key);
  }

  written(key: string): string {
    return this.options.convention.isQuoted ? `"${key}"` : key;
  }

  send(ask: Ask, how?: { readonly isLost: boolean }): Promise<Answer> {
    return send(this.#request(ask), how);
  }

  sendRaw(ask: Ask): Promise<number | undefined> {
    return sendRaw(this.#request(ask));
  }

  sendAndLeave(ask: Ask, afterMs: number): Promise<void> {
    return sendAndLeave(this.#request(ask), () => this.options.clock.sleep(afterMs));
  }

  /** Sends until the server no longer asks for patience. */
  async settle(ask: Ask): Promise<Answer> {
    let answer = await this.send(ask);
    for (let retry = 0; retry < RETRIES && LATER.includes(answer.status); retry++) {
      await this.options.clock.sleep(Number(answer.headers["retry-after"]) * 1000 || RETRY_MS);
      answer = await this.send(ask);
    }
    return answer;
  }

  /** The number of effects while `play` ran, and its answers. All of them belong to one key, or to none. */
  async play(play: () => Promise<readonly Answer[]>) {
    const before = await this.#count();
    const answers = await play();
    const after = await this.#count();
    const made = answers.filter(isSuccess).map((answer) => this.#effectOf(answer));
    return { answers, effects: after === undefined ? new Set(made).size : after - before! };
  }

  /** Sends one after the other, with patience for the last. */
  async inTurn(...asks: readonly [Ask, ...Ask[]]) {
    const { answers, effects } = await this.play(async () => {
      const received: Answer[] = [];
      for (const ask of asks.slice(0, -1)) received.push(await this.send(ask));
      return [...received, await this.settle(asks.at(-1)!)];
    });
    return {
      first: answers[0]!,
      second: answers[1]!,
      last: answers.at(-1)!,
      effects,
      lines: this.repeat(asks),
    };
  }

  /** Whether two responses say that the same effect happened. */
  areSame(one: Answer, other: Answer): boolean {
    return isSuccess(one) && isSuccess(other) && this.#effectOf(one) === this.#effectOf(other);
  }

  /** The lines that repeat such requests in a shell. `isTogether`: all at the same time. */
  repeat(asks: readonly Ask[], together = 1): readonly string[] {
    const text = JSON.stringify(asks);
    const names = this.#fresh.filter((key) => text.includes(key));
    const nameOf = (place: number) => (place === 0 ? "KEY" : `KEY_${place + 1}`);
    const hidden = (value: string) =>
      names.reduce((rest, key, place) => rest.replaceAll(key, variable(nameOf(place))), value);
    const lines = asks.map((ask) => {
      const { body, headers, ...request } = this.#request(ask);
      const { otherCaller = [] } = this.options;
      const shown = headers.map(([name, value]): Header => {
        if (name === this.options.keyHeader) return [name, hidden(value)];
        if (PLAIN_HEADERS.includes(name)) return [name, value];
        const isOther = ask.isOtherCaller && otherCaller.some(([other]) => other === name);
        return [name, variableOf(name, isOther ? "OTHER_" : "")];
      });
      return curl({ ...request, headers: shown, ...(body !== undefined && { body }) });
    });
    const first =
      together > 1 ? [`for i in $(seq ${together}); do ${lines[0]} & done; wait`] : lines.slice(0, 1);
    return [...names.map((_, place) => `${nameOf(place)}=$(uuidgen)`), ...first, ...lines.slice(1)];
  }

  async #count(): Promise<number | undefined> {
    const { effects: url, headers } = this.options;
    if (url === undefined) return undefined;
    const { status, body } = await send({ url, method: "GET", headers });
    const count = Number(body.trim() || Number.NaN);
    if (status === 200 && Number.isInteger(count)) return count;
    throw new Error(
      `--effects must answer 200 with a whole number (got status ${status}, ${body.length} bytes)`,
    );
  }

  #effectOf({ status, body }: Answer): string {
    const { idPath } = this.options;
    const id = idPath?.reduce<unknown>((value, name) => Object(value)[name], jsonObject(body));
    return id === undefined ? `${status} ${body}` : JSON.stringify(id);
  }

  #request({ keys = [], isOtherBody, isOtherCaller }: Ask): Request {
    const { url, method, headers, otherCaller = [], keyHeader, body, otherBody } = this.options;
    const replaced = isOtherCaller ? otherCaller : [];
    const kept = headers.filter(([name]) => !replaced.some(([other]) => other === name));
    const keyLines = keys.map((key): Header => [keyHeader, key]);
    return {
      ...{ url, method },
      headers: [...kept, ...replaced, ...keyLines],
      ...(body !== "" && { body: isOtherBody ? otherBody : body }),
    };
  }
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 400;

/** The server read the request and says that the caller has to change it. */
export const isRefusal = (status: number): boolean => status >= 400 && status < 500;
