/** The world of one run: tables, queues and other systems, new and empty, and the effects in them. */
import { Simulator } from "../simulator/simulator.ts";
import { announcements } from "./announcements.ts";
import { Arrivals } from "./arrivals.ts";
import type { Effect } from "./effect.ts";
import { type HeldError, heldIn, itemEffects, itemsOf, unsentIn } from "./item-effects.ts";
import { emailEffects, objectEffects } from "./objects-and-emails.ts";
import { Outside } from "./outside.ts";
import type { Scenario } from "./scenario.ts";

/** Frozen environments and late requests have ended by then. */
const MARGIN_MS = 5000;

export class ExploredWorld {
  readonly aws: Simulator;
  readonly outside: Outside;
  readonly #scenario: Scenario;
  readonly #arrivals: readonly Arrivals[];

  constructor(scenario: Scenario, { seed, startAt }: { readonly seed: number; readonly startAt: number }) {
    const { options, tables } = scenario;
    const aws = new Simulator({ seed, startAt });
    this.aws = aws;
    this.outside = new Outside(options.callKey);
    this.#scenario = scenario;
    for (const [name, table] of Object.entries(tables)) aws.table(name, table);
    this.#arrivals = Object.entries(options.queues ?? {}).map(
      ([name, queue]) => new Arrivals(aws.sqs, aws.queue(name, queue), name),
    );
    for (const [name, topic] of Object.entries(options.topics ?? {})) aws.topic(name, topic);
    for (const [name, bus] of Object.entries(options.buses ?? {})) aws.bus(name, bus);
    for (const [name, value] of Object.entries(options.parameters ?? {})) aws.parameter(name, value);
    for (const [name, value] of Object.entries(options.secrets ?? {})) aws.secret(name, value);
    for (const [name, objects] of Object.entries(options.buckets ?? {})) aws.bucket(name, objects);
    for (const [origin, service] of Object.entries(options.outside ?? {})) {
      aws.serve(origin, this.outside.remembering(service));
    }
  }

  /** `sourceQueue` delivers the event, so its messages don't count as effects. */
  async effects(sourceQueue: string | undefined): Promise<Effect[]> {
    const arrivals = this.#arrivals.filter(({ name }) => name !== sourceQueue);
    return [
      ...(await this.items()),
      ...emailEffects(this.aws.ses),
      ...(await Promise.all(arrivals.map((each) => each.effects()))).flat(),
      ...announcements(this.aws),
      ...this.outside.effects(),
      ...((await this.#scenario.options.effects?.(this.aws)) ?? []),
    ];
  }

  /** The items and objects, which may be there before a run. */
  async items(): Promise<Effect[]> {
    const { tables, idempotencyTables } = this.#scenario;
    const names = Object.keys(tables).filter((name) => !idempotencyTables.includes(name));
    const items = await Promise.all(names.map((name) => itemEffects(this.aws.dynamodb, name)));
    return [...items.flat(), ...objectEffects(this.aws.s3)];
  }

  /** The last error of each key that is held because an attempt's outcome is unknown. */
  async held(): Promise<HeldError[]> {
    const errors = Object.keys(this.#scenario.tables).map((name) => heldIn(this.aws.dynamodb, name));
    return (await Promise.all(errors)).flat();
  }

  /** The commits whose messages nothing has sent. */
  async unsent(): Promise<number> {
    const counts = Object.keys(this.#scenario.tables).map((name) => unsentIn(this.aws.dynamodb, name));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Backdates the items of `setUp`, so a stale read sees them too. */
  async ageItems(): Promise<void> {
    for (const TableName of Object.keys(this.#scenario.tables)) {
      for (const Item of await itemsOf(this.aws.dynamodb, TableName)) {
        await this.aws.dynamodb.call("PutItem", { TableName, Item });
      }
    }
  }

  /** Waits until all running work and all leases have ended. */
  async settle(): Promise<void> {
    const { absenceMs, overdueMs } = this.#scenario.durations;
    await this.aws.clock.sleep(absenceMs + overdueMs + MARGIN_MS);
    // Work that never succeeds, such as a poisonous message of a connected queue, is not waited for.
    await Promise.race([this.aws.untilIdle(), this.aws.clock.sleep(absenceMs)]);
  }
}
