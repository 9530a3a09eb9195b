/** What the console looks at: one port for a table and for the stacks of a local run. Types only. */
import type { ChildKeyLimits } from "onceonly/kit";
import type { ActAnswer, ConsoleLook, FoundKey, KeyLife, MessageBody, OwnerLook } from "./look.ts";

/** Names one key by what only its caller knows; or by its whole record key, without an operation and a scope. */
export interface AskedKey {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
}

/** Whose keys are looked for: of an owner, of an operation, or both. */
export interface AskedOwner {
  readonly operation: string;
  readonly scope: string;
  /** Whether to read the whole table. */
  readonly scan: boolean;
}

/** An act of the page. Its fields come from a request; the code that performs it checks them. */
export type Act = Readonly<Record<string, unknown>> & { readonly act: string };

export interface ConsoleSource {
  look(): Promise<Omit<ConsoleLook, "mayWrite">>;
  /** `undefined` where no record has that hash, or none that was looked at. */
  lifeOf(keyHash: string): Promise<KeyLife | undefined>;
  /**
   * The key that a handler passes on under a name; `undefined` if no record has that hash, or none that was looked at.
   * @throws UsageError for a name or limits that no child key can have
   */
  childKeyOf(keyHash: string, name: string, limits: ChildKeyLimits): string | undefined;
  /** The bodies of a commit's messages; `undefined` like a life. */
  bodiesOf(keyHash: string): Promise<readonly MessageBody[] | undefined>;
  /** The hash of a key: its record and its child keys can be asked for from then on. @throws UsageError */
  find(asked: AskedKey): Promise<FoundKey>;
  /** @throws UsageError without an owner and an operation */
  owned(asked: AskedOwner): Promise<OwnerLook>;
  /** @throws UsageError for an act that it does not know, or that lacks something */
  act(act: Act): Promise<ActAnswer>;
}
