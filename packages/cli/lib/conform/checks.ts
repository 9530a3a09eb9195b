/** What can go wrong with a key over HTTP: each check plays one such case and says what the server did. */
import { type Ask, isRefusal, isSuccess, type Lab } from "./lab.ts";
import type { Refusal } from "./profiles.ts";
import type { Answer } from "./send.ts";

/**
 * `broken`: an effect happened twice, or a caller got the response to another request. `differs`: nothing was doubled or
 * mixed up, but the response isn't the one that the profile demands. `skipped`: the check needs an option that wasn't given.
 */
export const VERDICTS = ["held", "differs", "broken", "skipped"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Finding {
  readonly verdict: Verdict;
  readonly says: string;
  /** Lines for a shell. Empty if there is nothing to look into. */
  readonly repeat: readonly string[];
}

type Check = (lab: Lab) => Promise<Finding>;

const held = (says: string): Finding => ({ verdict: "held", says, repeat: [] });
const skipped = (says: string): Finding => ({ verdict: "skipped", says, repeat: [] });
const broken = (says: string, repeat: readonly string[]): Finding => ({ verdict: "broken", says, repeat });
const differs = (says: string, repeat: readonly string[]): Finding => ({ verdict: "differs", says, repeat });

const replay: Check = async (lab) => {
  const ask = { keys: [lab.key()] };
  return afterRetry(lab, ask, {
    ...(await lab.inTurn(ask, ask)),
    held: "a retry gets the first response again",
  });
};

const lostAnswer: Check = async (lab) => {
  const ask = { keys: [lab.key()] };
  const { answers, effects } = await lab.play(async () => [
    await lab.send(ask, { isLost: true }),
    await lab.settle(ask),
  ]);
  const says = "a retry after a reset connection gets the first response";
  return afterRetry(lab, ask, { first: answers[0]!, last: answers[1]!, effects, held: says });
};

interface Retried {
  readonly first: Answer;
  readonly last: Answer;
  readonly effects: number;
  readonly held: string;
}

function afterRetry(lab: Lab, ask: Ask, { first, last, effects, held: says }: Retried): Finding {
  const lines = lab.repeat([ask, ask]);
  if (effects > 1) return broken(`a retry had a second effect (${effects} effects for one key)`, lines);
  if (!isSuccess(first)) return differs(`a valid request got ${first.status}`, lines);
  if (!isSuccess(last)) return differs(`the retry got ${last.status} instead of the first response`, lines);
  if (last.status !== first.status || !lab.areSame(first, last))
    return differs("no second effect, but the retry got another response than the first request", lines);
  const { convention, keyHeader } = lab.options;
  return convention.repeatsKey && last.headers[keyHeader] !== ask.keys?.[0]
    ? differs("the response doesn't repeat the key in its header", lines)
    : held(says);
}

const race: Check = async (lab) => {
  const ask = { keys: [lab.key()] };
  const { concurrency } = lab.options;
  const { answers, effects } = await lab.play(async () => {
    const racing = await Promise.all(Array.from({ length: concurrency }, () => lab.send(ask)));
    return [...racing, await lab.settle(ask)];
  });
  const lines = lab.repeat([ask, ask], concurrency);
  if (effects > 1)
    return broken(`${concurrency} concurrent requests with one key had ${effects} effects`, lines);
  if (!isSuccess(answers.at(-1)!))
    return differs(
      `after ${concurrency} concurrent requests a retry still gets ${answers.at(-1)!.status}`,
      lines,
    );
  const others = answers.filter((answer) => !isSuccess(answer));
  const fault = others.map((answer) => refusalFault(lab, "inProgress", answer)).find(Boolean);
  if (fault) return differs(`one effect, but a request that was in progress ${fault}`, lines);
  const refused = others.length === 0 ? "all got the same response" : `${others.length} were asked to retry`;
  return held(`${concurrency} concurrent requests had one effect; ${refused}`);
};

/** How a refusal differs from what the convention demands. */
function refusalFault(
  { options: { convention } }: Lab,
  refusal: Refusal,
  answer: Answer,
): string | undefined {
  const status = convention.statuses[refusal];
  if (answer.status !== status) return `got ${answer.status} instead of ${status}`;
  const fault = convention.fault?.(refusal, answer);
  return fault && `got ${status}, but ${fault}`;
}

const callerGone: Check = async (lab) => {
  if (!lab.options.effects)
    return skipped("needs --effects, because the first caller doesn't see its response");
  const { clock } = lab.options;
  const started = clock.now();
  await lab.send({ keys: [lab.key()] });
  const halfway = Math.ceil((clock.now() - started) / 2);
  const ask = { keys: [lab.key()] };
  const { answers, effects } = await lab.play(async () => {
    await lab.sendAndLeave(ask, halfway);
    return [await lab.settle(ask)];
  });
  const lines = lab.repeat([ask, ask]);
  if (effects > 1) return broken(`a caller hung up and retried, and both requests had their effect`, lines);
  if (!isSuccess(answers[0]!))
    return differs(`a caller hung up, and its retry got ${answers[0]!.status}`, lines);
  if (effects === 0) return broken("a caller hung up, and its retry got a success without any effect", lines);
  return held("a caller that hung up and retried had one effect");
};

const mismatch: Check = async (lab) => {
  const other = await lab.send({ keys: [lab.key()], isOtherBody: true });
  if (!isSuccess(other))
    return skipped(
      `the server refused the other body by itself (${other.status}): pass one that it accepts as --other-body`,
    );
  const ask = { keys: [lab.key()] };
  const {
    first,
    second: changed,
    last: again,
    effects,
    lines,
  } = await lab.inTurn(ask, { ...ask, isOtherBody: true }, ask);
  if (effects > 1 || (isSuccess(changed) && !lab.areSame(first, changed)))
    return broken("another body under the same key had a second effect", lines);
  if (isSuccess(changed))
    return broken("another body under the same key got the response to the first body", lines);
  if (!lab.areSame(first, again))
    return differs(
      `after another body under the same key, the first request's retry got ${again.status}`,
      lines,
    );
  const fault = refusalFault(lab, "mismatch", changed);
  return fault ? differs(`another body under the same key ${fault}`, lines) : held("another body is refused");
};

const otherCaller: Check = async (lab) => {
  if (!lab.options.otherCaller) return skipped("needs --as with another caller's credentials");
  const ask = { keys: [lab.key()] };
  const { first, last: other, effects, lines } = await lab.inTurn(ask, { ...ask, isOtherCaller: true });
  if (isSuccess(other) && (lab.areSame(first, other) || effects < 2))
    return broken("another caller with the same key got the first caller's response", lines);
  return isSuccess(other)
    ? held("another caller's key is another key")
    : differs(`another caller with the same key got ${other.status}`, lines);
};

const expiry: Check = async (lab) => {
  const { expiresAfterSeconds: seconds, clock } = lab.options;
  if (seconds === undefined) return skipped("needs --expires-after");
  const ask = { keys: [lab.key()] };
  const { effects } = await lab.play(async () => {
    const first = await lab.send(ask);
    await clock.sleep((seconds + 1) * 1000);
    return [first, await lab.settle(ask)];
  });
  return effects > 1
    ? held(`after ${seconds + 1} s the key is new again`)
    : differs(`after ${seconds + 1} s the key still gets its first response`, lab.repeat([ask]));
};

const missingKey: Check = async (lab) => {
  const answer = await lab.send({});
  const { requiresKey } = lab.options.convention;
  if (isSuccess(answer))
    return requiresKey
      ? differs("a request without a key ran", lab.repeat([{}]))
      : held("a key isn't required");
  const fault = refusalFault(lab, "missing", answer);
  return fault ? differs(`a request without a key ${fault}`, lab.repeat([{}])) : held("a key is required");
};

const emptyKey: Check = async (lab) => {
  const ask = { keys: [lab.written("")] };
  const { first, second, effects, lines } = await lab.inTurn(ask, { ...ask, isOtherBody: true });
  if (isSuccess(first) && isSuccess(second) && (effects < 2 || lab.areSame(first, second)))
    return broken("two different requests with an empty key got one response", lines);
  const statuses = [first, second].map(({ status }) => status);
  if (statuses.every(isRefusal)) return held("an empty key is refused");
  if (isSuccess(first) && isSuccess(second) && !lab.options.convention.requiresKey)
    return held("an empty key counts as none");
  return differs(`requests with an empty key got ${statuses.join(" and ")}`, lines);
};

/** Longer than anybody's limit, and short enough for every server's limit on headers. */
const LONG = 2000;

const longKey: Check = async (lab) => {
  const key = lab.key();
  const ending = (end: string) => ({
    keys: [key.replace(/[\w-]+/, (text) => `${text}${"k".repeat(LONG)}${end}`)],
  });
  const { first, second, effects, lines } = await lab.inTurn(ending("a"), ending("b"));
  if (isSuccess(first) && isSuccess(second))
    return effects < 2 || lab.areSame(first, second)
      ? broken(`two keys of ${LONG} characters that differ at their end got one response`, lines)
      : held("long keys are accepted, and distinguished to their end");
  return isRefusal(first.status) && isRefusal(second.status)
    ? held("a key that is too long is refused")
    : differs(`keys of ${LONG} characters got ${first.status} and ${second.status}`, lines);
};

const CONTROLS = ["\t", "\u0001", "\u007f", "\u00e9"];

const controlCharacters: Check = async (lab) => {
  const asks = CONTROLS.map((control) => ({ keys: [lab.key().replace(/-/, control)] }));
  for (const [place, ask] of asks.entries()) {
    const status = await lab.sendRaw(ask);
    if (status !== undefined && !isRefusal(status)) {
      const name = `0x${CONTROLS[place]!.charCodeAt(0).toString(16).padStart(2, "0")}`;
      return differs(`a key with the byte ${name} got ${status}`, lab.repeat([ask]));
    }
  }
  return held("keys with control characters or bytes beyond ASCII are refused");
};

const MALFORMED = [(key: string) => `"${key}`, (key: string) => `"${key}" x`, (key: string) => `"${key}\\x"`];

const malformedKey: Check = async (lab) => {
  if (!lab.options.convention.isQuoted) return skipped("keys of this profile aren't structured fields");
  for (const malform of MALFORMED) {
    const ask = { keys: [malform(lab.key().slice(1, -1))] };
    const { status } = await lab.send(ask);
    if (!isRefusal(status))
      return differs(`a key that isn't an RFC 9651 string got ${status}`, lab.repeat([ask]));
  }
  return held("keys that aren't RFC 9651 strings are refused");
};

const bareKey: Check = async (lab) => {
  if (!lab.options.convention.isQuoted) return skipped("keys of this profile have no quotes");
  const key = lab.key();
  const {
    first,
    last: bare,
    effects,
    lines,
  } = await lab.inTurn({ keys: [key] }, { keys: [key.slice(1, -1)] });
  if (effects > 1) return differs("a key with and without quotes is two keys", lines);
  if (lab.areSame(first, bare)) return held("a key with and without quotes is the same key");
  return isRefusal(bare.status)
    ? held("a key without quotes is refused")
    : differs(`a key without quotes got ${bare.status}`, lines);
};

const twoKeys: Check = async (lab) => {
  const ask = { keys: [lab.key(), lab.key()] };
  const { status } = await lab.send(ask);
  return isRefusal(status)
    ? held("two different keys in one request are refused")
    : differs(`a request with two different keys got ${status}`, lab.repeat([ask]));
};

/** By the names that a report has for them, in the order in which they run. */
export const CHECKS: Readonly<Record<string, Check>> = {
  replay,
  race,
  "lost-answer": lostAnswer,
  "caller-gone": callerGone,
  mismatch,
  "other-caller": otherCaller,
  expiry,
  "missing-key": missingKey,
  "empty-key": emptyKey,
  "long-key": longKey,
  "control-characters": controlCharacters,
  "malformed-key": malformedKey,
  "bare-key": bareKey,
  "two-keys": twoKeys,
};

/**
 * Sends two keys: without two visible effects, no check could see a second one.
 * @throws Error if the server refuses a valid request, or if the two can't be distinguished
 */
export async function checkVisible(lab: Lab): Promise<void> {
  const asks = [{ keys: [lab.key()] }, { keys: [lab.key()] }];
  const { answers, effects } = await lab.play(async () => [
    await lab.send(asks[0]!),
    await lab.send(asks[1]!),
  ]);
  const refused = answers.find((answer) => !isSuccess(answer));
  if (refused)
    throw new Error(
      `the server answered ${refused.status} to a valid request with a new key, so there is nothing to check: pass a request that it accepts (--method, --body, --header)`,
    );
  if (effects === 2) return;
  throw new Error(
    lab.options.effects
      ? `two requests with two keys had ${effects} effects by --effects, but must have 2: does anything else use the server?`
      : "two requests with two keys got the same response, so a second effect couldn't be seen: pass --effects, or have the response carry an id",
  );
}
