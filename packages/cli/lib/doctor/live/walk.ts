/**
 * Walks from what is named to what belongs to it, and describes each once. A function leads to its table, its sources and its
 * rules. A queue leads to its dead letters and its consumers, a table to those who read its stream.
 */
import type { EventSourceMappingConfiguration, FunctionConfiguration } from "@aws-sdk/client-lambda";
import { ENVIRONMENT, queueUrlOfArn } from "onceonly/kit";
import { queueName } from "../../queues.ts";
import { TYPES } from "../diagnosed-stack.ts";
import { inTime, type LiveClients } from "./clients.ts";
import { callersOf, functionProperties, mappingProperties, variablesOf } from "./descriptions.ts";
import { type LiveModel, type LivePlace, look, unseenOf } from "./model.ts";
import { placeOf, placeOfArn, type Streams, sourceOf, streamKey } from "./places.ts";
import { describeQueue } from "./queue.ts";
import { LiveRules } from "./rules.ts";
import { describeTable } from "./table.ts";

export class LiveWalk {
  readonly #clients: LiveClients;
  readonly #model: LiveModel;
  readonly #visited = new Set<string>();
  readonly #mappings: { id: string; region: string; mapping: EventSourceMappingConfiguration }[] = [];
  readonly #streams: Streams = new Map();
  readonly #rules: LiveRules;
  /** Aliases, as the ARN of each. */
  readonly #aliases: readonly string[];

  constructor(clients: LiveClients, model: LiveModel, aliases: readonly string[] = []) {
    this.#clients = clients;
    this.#model = model;
    this.#aliases = aliases;
    this.#rules = new LiveRules(clients, model);
  }

  #isNew(id: string): boolean {
    if (this.#visited.has(id)) return false;
    this.#visited.add(id);
    return true;
  }

  async table(place: LivePlace): Promise<void> {
    const id = this.#model.idOf(TYPES.table, place);
    if (!this.#isNew(id)) return;
    const arn = await describeTable(this.#clients, this.#model, place);
    if (arn === undefined) return;
    this.#streams.set(streamKey(arn), { id, arn });
    await this.#mappingsOf(`readers of the stream of ${id}`, place.region, { EventSourceArn: arn });
  }

  /** @param url of the queue */
  async queue(url: string, region: string): Promise<void> {
    const name = queueName(url);
    const id = this.#model.idOf(TYPES.queue, { region, name });
    if (!this.#isNew(id)) return;
    const described = await describeQueue(this.#clients, this.#model, url, { region, name });
    if (!described) return;
    if (described.deadLetters !== undefined) await this.queue(described.deadLetters, region);
    await this.#mappingsOf(`consumers of ${id}`, region, { EventSourceArn: described.arn });
  }

  /** @param qualifier the version or alias that is called, where it is known */
  async function({ region, name }: LivePlace, qualifier?: string): Promise<void> {
    const id = this.#model.idOf(TYPES.function, { region, name });
    if (!this.#isNew(id)) return;
    const aliases = this.#aliases.filter((arn) => arn.includes(`:function:${name}:`));
    const called = qualifier ?? aliases[0]?.split(":").at(-1);
    const FunctionName = called === undefined ? name : `${name}:${called}`;
    const answer = await look("lambda:GetFunctionConfiguration", async () => {
      const lambda = await this.#clients.of("lambda", region);
      return lambda.getFunctionConfiguration({ FunctionName }, inTime());
    });
    if (answer.is !== "seen") return this.#model.without(TYPES.function, id, answer);
    const { Variables = {}, Error: failure } = answer.value.Environment ?? {};
    if (failure) {
      const remedy = "allow kms:Decrypt on the key of its variables";
      const why = `its variables can't be read: ${failure.ErrorCode}`;
      this.#model.without(TYPES.function, id, { is: "unseen", why, remedy });
      return;
    }
    await this.#describedFunction(answer.value, Variables, { region, name }, [
      ...new Set([FunctionName, name, ...aliases]),
    ]);
  }

  async #describedFunction(
    described: FunctionConfiguration,
    variables: Readonly<Record<string, string>>,
    place: LivePlace,
    names: readonly string[],
  ): Promise<void> {
    const { region, name } = place;
    const id = this.#model.idOf(TYPES.function, place);
    const tableName = variables[ENVIRONMENT.idempotencyTable];
    const table = tableName === undefined ? undefined : placeOf(tableName, region);
    const reference = table && this.#model.refer(TYPES.table, table);
    const properties = functionProperties(described, variablesOf(variables, reference));
    this.#model.add(TYPES.function, id, properties);
    const isSender = variables[ENVIRONMENT.outboxDestinations] !== undefined;
    if (tableName === undefined && !isSender && !this.#model.isGiven(id)) return;
    await this.#concurrency(id, place, properties);
    if (!isSender) await this.#callers(id, region, names);
    if (table) await this.table(table);
    for (const FunctionName of names)
      await this.#mappingsOf(`event sources of ${id}`, region, { FunctionName });
    if (!isSender) return;
    const arn = `${described.FunctionArn}`.split(":").slice(0, 7).join(":");
    const qualifiers = names
      .filter((each) => each !== name)
      .map((each) => `${arn}:${each.split(":").at(-1)}`);
    await this.#rules.of(id, arn, [arn, ...qualifiers]);
  }

  async #concurrency(id: string, { region, name }: LivePlace, properties: object): Promise<void> {
    const answer = await look("lambda:GetFunctionConcurrency", async () => {
      const lambda = await this.#clients.of("lambda", region);
      return lambda.getFunctionConcurrency({ FunctionName: name }, inTime());
    });
    const field = "ReservedConcurrentExecutions";
    if (answer.is === "seen")
      Object.assign(properties, { [field]: answer.value.ReservedConcurrentExecutions });
    if (answer.is === "unseen")
      this.#model.sight.hide(properties, field, { ...unseenOf(answer, `concurrency of ${id}`), id });
  }

  /** The callers of a function: a gateway has its own time limit. */
  async #callers(id: string, region: string, names: readonly string[]): Promise<void> {
    for (const FunctionName of names) {
      const answer = await look("lambda:GetPolicy", async () => {
        const lambda = await this.#clients.of("lambda", region);
        return callersOf(`${(await lambda.getPolicy({ FunctionName }, inTime())).Policy}`);
      });
      const what = `callers of ${id}`;
      if (answer.is === "unseen")
        this.#model.sight.add({ ...unseenOf(answer, what), types: [TYPES.permission] });
      if (answer.is !== "seen") continue;
      for (const Principal of answer.value)
        this.#model.add(TYPES.permission, `${Principal} calls ${FunctionName}`, {
          Principal,
          FunctionName: { Ref: id },
        });
    }
  }

  async #mappingsOf(
    what: string,
    region: string,
    of: { readonly EventSourceArn: string } | { readonly FunctionName: string },
  ): Promise<void> {
    let Marker: string | undefined;
    do {
      const answer = await look("lambda:ListEventSourceMappings", async () => {
        const lambda = await this.#clients.of("lambda", region);
        return lambda.listEventSourceMappings({ ...of, ...(Marker !== undefined && { Marker }) }, inTime());
      });
      if (answer.is === "unseen")
        this.#model.sight.add({ ...unseenOf(answer, what), types: [TYPES.mapping] });
      if (answer.is !== "seen") return;
      for (const mapping of answer.value.EventSourceMappings ?? []) await this.#mapping(mapping, region);
      Marker = answer.value.NextMarker || undefined;
    } while (Marker !== undefined);
  }

  /** An event source that only the stack's template names. */
  async mapping(UUID: string, region: string): Promise<void> {
    const id = this.#model.idOf(TYPES.mapping, { region, name: UUID });
    if (this.#visited.has(id)) return;
    const answer = await look("lambda:GetEventSourceMapping", async () => {
      const lambda = await this.#clients.of("lambda", region);
      return lambda.getEventSourceMapping({ UUID }, inTime());
    });
    if (answer.is === "seen") await this.#mapping(answer.value, region);
    else this.#model.without(TYPES.mapping, id, answer);
  }

  async #mapping(mapping: EventSourceMappingConfiguration, region: string): Promise<void> {
    const id = this.#model.idOf(TYPES.mapping, { region, name: `${mapping.UUID}` });
    if (!this.#isNew(id)) return;
    this.#mappings.push({ id, region, mapping });
    const [, , , , , , name = "", qualifier] = `${mapping.FunctionArn}`.split(":");
    await this.function({ region, name }, qualifier);
    const { EventSourceArn: source = "" } = mapping;
    const url = queueUrlOfArn(source);
    if (url !== undefined) await this.queue(url, placeOfArn(source).region);
  }

  /**
   * What needs all others to be known.
   * @param isWhole whether all functions of a stack are among those that were looked at
   */
  async finish(isWhole: boolean): Promise<void> {
    await this.#rules.finish(isWhole);
    for (const { id, region, mapping } of this.#mappings) {
      const { EventSourceArn: source = "", FunctionArn } = mapping;
      const properties = {
        ...mappingProperties(mapping),
        ...sourceOf(this.#model, this.#streams, source),
        FunctionName: this.#model.refer(TYPES.function, {
          region,
          name: `${FunctionArn}`.split(":")[6] ?? "",
        }),
      };
      const { FilterCriteriaError: failure } = mapping;
      const why = `can't be read: ${failure?.ErrorCode}`;
      const remedy = "allow kms:Decrypt on the key of the filter";
      if (failure)
        this.#model.sight.hide(properties, "FilterCriteria", { what: `filter of ${id}`, why, remedy, id });
      this.#model.add(TYPES.mapping, id, properties);
    }
  }
}
