/** The rules for the options of topics, buses and their subscribers. A broken rule throws immediately. */
import { type Check, checkOptions, InvalidOptionError, methods, oneOf, text } from "onceonly/kit";
import { aBoolean, aPart, type OptionRules, whole } from "./option-rules.ts";
import type { SimulatedBus, SimulatedRule, SimulatedSubscription, SimulatedTopic } from "./room-options.ts";

const aList: Check = ["must be an array", Array.isArray];
const anObject: Check = ["must be an object", (value) => Object(value) === value];
const aName = text(2048);
const aFunction = methods("invoke", "invokeAsync");

const TOPIC: OptionRules<SimulatedTopic> = {
  fifo: aBoolean,
  contentBasedDeduplication: aBoolean,
  maximumMessageSize: whole(1024, 1_048_576),
  subscriptions: aList,
  repeats: aPart,
};

const SUBSCRIPTION: OptionRules<SimulatedSubscription> = {
  queue: aName,
  fn: aFunction,
  raw: aBoolean,
  filterPolicy: anObject,
  filterPolicyScope: oneOf("MessageAttributes", "MessageBody"),
};

const BUS: OptionRules<SimulatedBus> = { rules: aList, repeats: aPart };

const RULE: OptionRules<SimulatedRule> = {
  queue: aName,
  fn: aFunction,
  topic: aName,
  bus: aName,
  pattern: anObject,
  group: text(128),
  inputPath: aName,
  inputTransformer: ["must have a template", (value) => typeof Object(value).template === "string"],
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkTopic(topic: SimulatedTopic): void {
  checkOptions(topic, TOPIC, []);
  for (const subscription of topic.subscriptions ?? []) {
    checkOptions(subscription, SUBSCRIPTION, []);
    checkOneOf(subscription, ["queue", "fn"]);
  }
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkBus(bus: SimulatedBus): void {
  checkOptions(bus, BUS, []);
  for (const rule of bus.rules ?? []) {
    checkOptions(rule, RULE, []);
    checkOneOf(rule, ["queue", "fn", "topic", "bus"]);
  }
}

function checkOneOf(options: SimulatedSubscription | SimulatedRule, names: readonly string[]): void {
  const given = names.filter((name) => (options as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (given.length === 1) return;
  throw new InvalidOptionError(names.join(" | "), "exactly one of them must be set", given);
}
