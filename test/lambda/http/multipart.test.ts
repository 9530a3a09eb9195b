// Forms as Node's own FormData (undici) sends them, and forms that parsers could read differently.
import { fingerprintFromMultipart, httpIdempotent } from "onceonly";
import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../../lib/core/fingerprint.ts";
import { httpFingerprint } from "../../../lib/lambda/http/fingerprint.ts";
import { type Answer, given } from "../given.ts";
import { EVENT_FORMS, v2Event } from "./given.ts";

const bytes = Uint8Array.from({ length: 600 }, (_, at) => at % 256);

function form({ title = "tea ☕", file = bytes, name = "a.bin" } = {}): FormData {
  const made = new FormData();
  made.append("title", title);
  made.append("file", new Blob([file], { type: "image/png" }), name);
  return made;
}

/** A new boundary each time. */
async function sent(data: FormData) {
  const response = new Response(data);
  const body = Buffer.from(await response.arrayBuffer()).toString("base64");
  const headers = { "Content-Type": response.headers.get("content-type")!, "Idempotency-Key": "k1" };
  return { headers, body, isBase64Encoded: true };
}

const multipart = fingerprintFromMultipart();
const made = (event: object) => fingerprintOf(multipart(event));

describe("fingerprintFromMultipart", () => {
  it.each(EVENT_FORMS)(
    "R12: replays a form that comes again with another boundary: %s",
    async (_, eventOf) => {
      const { options, context } = given();
      let runs = 0;
      const handler = httpIdempotent(async () => ({ statusCode: 201, body: `${++runs}` }), {
        ...options,
        scope: "public",
        fingerprint: multipart,
      });
      const send = async (data: FormData) =>
        (await handler(eventOf(await sent(data)) as never, context())) as unknown as Answer;

      const answers = [await send(form()), await send(form()), await send(form({ title: "coffee" }))];

      expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 422]);
      expect(runs).toBe(1);
    },
  );

  it("R12: differs for every field, byte, file name and order", async () => {
    const changed = Uint8Array.from(bytes, (byte, at) => (at === 599 ? byte ^ 1 : byte));
    const reversed = new FormData();
    for (const [name, value] of [...form().entries()].reverse()) reversed.append(name, value as string);
    const forms = [
      form(),
      form({ title: "tea" }),
      form({ file: changed }),
      form({ name: "b.bin" }),
      reversed,
      new FormData(),
    ];

    const fingerprints = await Promise.all(forms.map(async (each) => made(v2Event(await sent(each)))));

    expect(new Set(fingerprints).size).toBe(forms.length);
    expect(made(v2Event({ ...(await sent(form())), path: "/other" }))).not.toBe(fingerprints[0]);
  });

  const part = (text: string) => `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n`;
  const whole = `${part("1")}--b--\r\n`;
  const type = "multipart/form-data; boundary=b";
  it.each([
    ["a form", type, whole, true],
    ["a form without the last line break", type, `${part("1")}--b--`, true],
    ["a quoted boundary", 'multipart/form-data; boundary="b"', whole, true],
    ["a boundary inside of a line", type, `${part("x --b y")}--b--`, false],
    ["a boundary after a line feed", type, `${part("x\n--b\ny")}--b--`, false],
    ["another type", "application/json", whole, false],
    ["no type", undefined, whole, false],
    ["two types", [type, type], whole, false],
    ["two boundaries", `${type}; boundary=c`, whole, false],
    ["another parameter", `${type}; charset=utf-8`, whole, false],
    ["an empty boundary", "multipart/form-data; boundary=", whole, false],
    ["text before the first part", type, `x\r\n${whole}`, false],
    ["text after the last part", type, `${whole}x`, false],
    ["no end", type, part("1"), false],
    ["an end in the middle", type, `${part("1")}--b--\r\n${whole}`, false],
    ["a longer boundary in a part", type, `${part("\r\n--bc")}--b--`, false],
    ["spaces after a boundary", type, whole.replace("--b\r\n", "--b \r\n"), false],
    ["line feeds alone", type, whole.replaceAll("\r\n", "\n"), false],
    ["a part without a name", type, "--b\r\n\r\n1\r\n--b--", false],
    [
      "a part whose headers don't end",
      type,
      '--b\r\nContent-Disposition: form-data; name="a"\r\n--b--',
      false,
    ],
    ["no part", type, "--b--\r\n", false],
    ["no body", type, "", false],
  ])("R12: reads a form only if it can't be read differently: %s", (_, contentType, body, isRead) => {
    const headers: Record<string, string | string[]> =
      contentType === undefined ? {} : { "content-type": contentType };
    const event = v2Event({ headers, body });

    expect(made(event) !== fingerprintOf(httpFingerprint(event))).toBe(isRead);
  });

  it("R12: refuses text that has no bytes of its own", () => {
    const event = v2Event({ headers: { "content-type": type }, body: `${part("\ud800")}--b--` });

    expect(() => multipart(event)).toThrow("the body contains a lone surrogate");
  });

  it("R12: refuses a parsed body", () => {
    const headers = { "content-type": type };

    expect(() => multipart({ ...v2Event({ headers }), body: { title: "tea" } })).toThrow(
      "`fingerprint` is required if",
    );
  });
});
