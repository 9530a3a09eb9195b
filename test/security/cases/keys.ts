// Idempotency keys, from headers and from code: the one that was sent, or a refusal.
import { httpIdempotent, idempotent, runOnce } from "onceonly";
import { type Answer, bodyOf, given } from "../../lambda/given.ts";
import { EVENT_FORMS } from "../../lambda/http/given.ts";
import { errorOf, hold, type Suite } from "../world.ts";
import { ODD_OTHERS, ODD_TEXTS, oddTexts } from "./odd-values.ts";

interface HostileKey {
  readonly way: string;
  readonly value: unknown;
}

const LINES: readonly string[] = [
  '"',
  '""',
  '"""',
  '"a',
  'a"',
  '"a"b',
  '"a""b"',
  '"a" "b"',
  '"a","b"',
  "a,b",
  "a, a",
  '"a", a',
  "a;b",
  '"a";b',
  '"a";b="c"',
  '"a";b="c',
  '"a";B=1',
  '"a"; q=0.5;*x',
  "\\",
  '"\\"',
  '"\\\\"',
  '"\\a"',
  '"a\\"b"',
  "'a'",
  ":YQ==:",
  "?1",
  "1.5",
  "()",
  "(a b)",
  "a b",
  '"a\tb"',
  '"a\nb"',
  "a\r\nSet-Cookie: x=1",
  '"ä"',
  '"%C3%A4"',
  "=?utf-8?q?a?=",
  "a=b",
  "@",
  "{}",
  '{"key":"a"}',
  "null",
  '"null"',
  "undefined",
  ",",
  ",,",
  ", a",
  "a,",
  " , ",
  ";",
  '";"',
  '","',
  '"a,b"',
  '"a;b"',
  "a".repeat(255),
  "a".repeat(256),
  `"${"a".repeat(255)}"`,
  `"${"\\\\".repeat(255)}"`,
  `"${"a".repeat(100_000)}`,
  `${'"a",'.repeat(5000)}"a"`,
  `"a"${";a".repeat(20_000)}`,
  `${"a,".repeat(20_000)}`,
];

const UNITS = ['"', "\\", ",", ";", "=", " ", "\t", "a", "A", "1", "*", ":", "?", "\u007f", "\u0080", "\n"];

const run = async (_: unknown, { idempotency }: { idempotency: { key: string } }) => ({
  statusCode: 201,
  body: idempotency.key,
});

/** By its own header, in each of the five forms of an event. */
async function overHttp(form: (typeof EVENT_FORMS)[number][1], value: unknown) {
  const { options, store, context } = given();
  const handler = httpIdempotent(run, { ...options, scope: "public" });
  const event = form({ headers: { "Idempotency-Key": value as string } });
  const answer = (await handler(event, context())) as unknown as Answer;
  if (answer.statusCode === 201) return { key: answer.body, records: store.records.size };
  hold(
    answer.statusCode === 400 && /^IDEMPOTENCY_KEY_/.test(String(bodyOf(answer).code)),
    `answered ${answer.statusCode}`,
  );
  hold(answer.body.length < 500, "answered at length");
  return { key: undefined, records: store.records.size };
}

async function byCode(way: string, value: unknown) {
  const { options, store, context } = given();
  let key: string | undefined;
  const work = async (...parameters: readonly unknown[]) => {
    const execution =
      (parameters.at(-1) as { idempotency?: { key: string } }).idempotency ??
      (parameters[0] as { key: string });
    key = execution.key;
  };
  const error = await errorOf(() =>
    way === "runOnce"
      ? runOnce({ ...options, leaseSeconds: 30 }, value as string, {}, work)
      : idempotent(work, { ...options, key: () => value as string })({}, context()),
  );
  const code = (error as { code?: string } | undefined)?.code;
  hold(error === undefined || /^IDEMPOTENCY_KEY_/.test(`${code}`), `failed with ${String(error)}`);
  return { key, records: store.records.size };
}

export const keys: Suite<HostileKey> = {
  title: "keys",
  what: "header lines that quote, escape, join or end too early, in each form of an event; keys from code: blanks, controls, lone surrogates, values that aren't strings, 100,000 characters",
  promise: "400 or an error before any request, or the one key that was sent",
  inputs: () => {
    const lines = [...LINES, ...ODD_TEXTS, ...oddTexts(120, UNITS, 8, 2)];
    const ofHeaders = EVENT_FORMS.flatMap(([way]) => lines.map((value) => ({ way, value })));
    const values = [...ODD_TEXTS, ...ODD_OTHERS];
    return [
      ...ofHeaders,
      ...["runOnce", "idempotent"].flatMap((way) => values.map((value) => ({ way, value }))),
    ];
  },
  async judge({ way, value }) {
    const form = EVENT_FORMS.find(([name]) => name === way)?.[1];
    const { key, records } = await (form ? overHttp(form, value) : byCode(way, value));
    hold(records === (key === undefined ? 0 : 1), `${records} records for the key ${key}`);
    if (key === undefined) return "refused";
    hold(typeof value === "string", "taken, and it is no text");
    hold(
      key.length >= 1 && key.length <= 255 && key.isWellFormed(),
      `taken as a key of ${key.length} characters`,
    );
    if (form === undefined) {
      hold(key === value, "taken as another key");
      return "accepted";
    }
    hold(/^[ -~]+$/.test(key), "taken, and it is no printable ASCII");
    const quoted = `"${key.replaceAll(/["\\]/g, "\\$&")}"`;
    hold(
      value.includes(quoted) || value.trim() === key || value.split(",").some((part) => part.trim() === key),
      `taken as ${key}`,
    );
    return "accepted";
  },
};
