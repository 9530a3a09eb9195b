/** The model's traces, played on a store: each request to each kind of record, and each call of the engine over it. */
import { isDeepStrictEqual } from "node:util";
import { engineCases } from "./engine-cases.ts";
import { playEngine } from "./engine-play.ts";
import { playModel } from "./model-play.ts";
import { storeCases } from "./store-cases.ts";
import { type Ports, playCase, visible } from "./store-play.ts";

/** Concurrently: a server handles one request after the other, but not one connection after the other. */
const PLAYERS = 16;

interface Traces {
  /** How many were played. */
  readonly played: number;
  /** The first difference between the store and the model. */
  readonly differences: readonly unknown[];
}

const sendersOf = ({ outbox }: Pick<Ports, "outbox">) => ({ senders: outbox ? 1 : 0 });

/** Each request to each kind of record: the store decides as the model's store does. */
export function playOnStore<Write>(ports: Ports<Write>): Promise<Traces> {
  return playAll(storeCases(sendersOf(ports)), async ({ expected, ...given }) => {
    const { answers, record, isTaken } = expected;
    return [await playCase(ports, given), { answers, record: visible(record), isTaken }];
  });
}

/**
 * Each engine call does over the store what the model's worker does.
 * @param stride 5 plays every fifth
 */
export function playOnEngine<Write>(ports: Ports<Write>, stride: number): Promise<Traces> {
  const bounds = sendersOf(ports);
  const cases = [...engineCases((plain) => playModel(plain, bounds).requests.length, bounds)];
  const chosen = cases.filter((_, index) => index % stride === 0);
  return playAll(chosen, async (each) => [await playEngine(ports, each), playModel(each, bounds)]);
}

async function playAll<Case>(
  cases: readonly Case[],
  play: (each: Case) => Promise<[real: unknown, model: unknown]>,
): Promise<Traces> {
  const rest = cases.values();
  const differences: unknown[] = [];
  const playRest = async () => {
    for (const each of rest) {
      const [real, model] = await play(each);
      if (!isDeepStrictEqual(real, model)) differences.push({ each, real, model });
    }
  };
  await Promise.all(Array.from({ length: PLAYERS }, playRest));
  return { played: cases.length, differences: differences.slice(0, 3) };
}
