/** What lives, in the form of a template: ids of resources, their properties, and what could not be looked at. */
import { DiagnosedStack, TYPES } from "../diagnosed-stack.ts";
import { Sight, type Unseen } from "../sight.ts";
import { MissingClientError, RequestBoundError } from "./clients.ts";

/** Where something of a name lives. */
export interface LivePlace {
  readonly region: string;
  readonly name: string;
}

/** One look at one thing. */
export type LiveLook<T> =
  | { readonly is: "seen"; readonly value: T }
  | { readonly is: "gone" }
  | { readonly is: "unseen"; readonly why: string; readonly remedy: string };

export class LiveModel {
  readonly sight = new Sight();
  readonly #resources: Record<string, { Type: string; Properties: object }> = {};
  /** By type, Region and name. */
  readonly #ids = new Map<string, string>();
  readonly #given = new Set<string>();

  /** The id of a resource: what the stack calls it, else its name. Two resources never share one. */
  idOf(type: string, { region, name }: LivePlace, label = name): string {
    const place = `${type} ${region} ${name}`;
    const known = this.#ids.get(place);
    if (known !== undefined) return known;
    const taken = new Set(this.#ids.values());
    const id = [label, `${label} (${kindOf(type)})`, place].find((each) => !taken.has(each)) ?? place;
    this.#ids.set(place, id);
    return id;
  }

  refer(type: string, place: LivePlace): { readonly Ref: string } {
    return { Ref: this.idOf(type, place) };
  }

  add(type: string, id: string, properties: object): void {
    this.#resources[id] = { Type: type, Properties: properties };
  }

  /** The person named it: such a table is one of records, such a function runs operations. */
  give(id: string): void {
    this.#given.add(id);
  }

  isGiven(id: string): boolean {
    return this.#given.has(id);
  }

  /** Handles a resource that wasn't found or couldn't be read; leaves the others to the caller. */
  without(type: string, id: string, look: Exclude<LiveLook<unknown>, { is: "seen" }>): void {
    if (look.is === "gone") this.add(TYPES.gone, id, { Kind: kindOf(type) });
    else this.sight.add({ ...unseenOf(look, `${kindOf(type)} ${id}`), types: [type] });
  }

  count(type: string): number {
    return Object.values(this.#resources).filter(({ Type }) => Type === type).length;
  }

  stack(): DiagnosedStack {
    return new DiagnosedStack({ Resources: this.#resources }, this.sight, this.#given);
  }
}

export const unseenOf = (
  { why, remedy }: Extract<LiveLook<unknown>, { is: "unseen" }>,
  what: string,
): Unseen => ({ what, why, remedy });

const KINDS: Readonly<Record<string, string>> = {
  [TYPES.table]: "table",
  [TYPES.queue]: "queue",
  [TYPES.function]: "function",
  [TYPES.mapping]: "event source",
  [TYPES.alarm]: "alarm",
  [TYPES.rule]: "rule",
  [TYPES.schedule]: "schedule",
};

const kindOf = (type: string): string => KINDS[type] ?? type;

const NOT_FOUND = /^(ResourceNotFoundException|QueueDoesNotExist|.*NonExistentQueue)$/;
const REFUSED = /AccessDenied|Unauthorized|NotAuthorized|AuthorizationError|Forbidden/;
const UNKNOWN_CALLER = /Credentials|Token|Signature|UnrecognizedClient|AuthFailure/;

/** @param right the IAM action that the request needs */
export async function look<T>(right: string, request: () => Promise<T>): Promise<LiveLook<T>> {
  try {
    return { is: "seen", value: await request() };
  } catch (error) {
    const { name, code, message } = error as Error & { readonly code?: unknown };
    if (NOT_FOUND.test(name)) return { is: "gone" };
    if (error instanceof RequestBoundError)
      return { is: "unseen", why: message, remedy: "raise --max-requests" };
    if (error instanceof MissingClientError)
      return { is: "unseen", why: "its SDK client isn't installed", remedy: message };
    if (REFUSED.test(name)) return { is: "unseen", why: name, remedy: `allow ${right}` };
    const remedy = UNKNOWN_CALLER.test(name)
      ? "check the credentials, or pass --profile"
      : "run it again, or check the region, the endpoint and the network";
    return { is: "unseen", why: typeof code === "string" ? code : name, remedy };
  }
}
