// One process that answers calls and runs functions until it is killed, or its parent is gone.
import type { Decision } from "onceonly";
import type { Ask, FromHands, Invocation, ToHands } from "../asking.ts";
import { variantOf } from "../variants.ts";
import { ADAPTERS } from "./adapters.ts";
import { createFunctions } from "./functions.ts";
import { handle } from "./handlers.ts";
import { readError, readResult } from "./read-answer.ts";
import { createWorld, type WorldOptions } from "./world.ts";

const options = JSON.parse(String(process.argv[2])) as WorldOptions;
const worlds = { storm: createWorld(options, false), calm: createWorld(options, true) };
const functions = { storm: createFunctions(worlds.storm), calm: createFunctions(worlds.calm) };

const send = (message: FromHands) => void process.send?.(message);

async function answer(ask: Ask): Promise<void> {
  const { id } = ask;
  const world = worlds[ask.isCalm ? "calm" : "storm"];
  const variant = variantOf(ask.variant);
  const decisions: Decision[] = [];
  const thrown = new Set<unknown>();
  const observe = (decision: Decision) => void decisions.push(decision);
  const answering = ADAPTERS[variant.adapter]({
    ask,
    variant,
    world,
    observe,
    async work(execution, form) {
      const { attempt } = execution;
      send({ id, handlerStarted: { at: Date.now(), ...(attempt !== undefined && { attempt }) } });
      try {
        const onCommit = () => send({ id, commitStarted: { at: Date.now() } });
        return await handle({ ask, variant, world, execution, form, onCommit });
      } catch (error) {
        thrown.add(error);
        throw error;
      } finally {
        send({ id, handlerEnded: { at: Date.now() } });
      }
    },
  });
  const read = answering.then(readResult, (error) => readError(error, id, thrown.has(error)));
  send({ id, ended: { answer: await read, decisions } });
}

async function invoke(invocation: Invocation): Promise<void> {
  const { id, isCalm } = invocation;
  try {
    const result = await functions[isCalm ? "calm" : "storm"][invocation.function]?.(invocation);
    send({ id, result: JSON.stringify(result ?? null) });
  } catch (error) {
    send({ id, error: String(error) });
  }
}

process.on("message", (message: ToHands) => {
  void ("ask" in message ? answer(message.ask) : invoke(message.invocation));
});
process.on("disconnect", () => process.exit());
