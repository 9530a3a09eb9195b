/** Requests and answers as JSON, in which the bytes of `B` and `BS` are base64. */

export function encodeInput(input: object): string {
  return JSON.stringify(withTexts(input));
}

/** Parsed anew for each caller, so that it is changed in place. */
export function decodeOutput(text: string): unknown {
  const output: unknown = JSON.parse(text);
  putBytes(output);
  return output;
}

/** A copy, as far as there are bytes in it: most requests have none, and stay as they are. */
function withTexts(value: object): object | string {
  const bytes = bytesOf(value);
  if (bytes) return bytes.toString("base64");
  let copy: Record<string, unknown> | undefined;
  // Without the arrays that Object.entries makes: all of each request is walked.
  for (const name in value) {
    const inner: unknown = (value as Record<string, unknown>)[name];
    if (typeof inner !== "object" || inner === null) continue;
    const encoded = withTexts(inner);
    if (encoded === inner) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = encoded;
  }
  return copy ?? value;
}

function bytesOf(value: object): Buffer | undefined {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? Buffer.from(value) : undefined;
}

/** Nothing but a value of these types has a text, or texts, under these names: attributes so called have objects. */
function putBytes(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const attribute = value as { B?: unknown; BS?: unknown };
  if (typeof attribute.B === "string") attribute.B = toBytes(attribute.B);
  else if (Array.isArray(attribute.BS) && attribute.BS.every((each) => typeof each === "string")) {
    attribute.BS = attribute.BS.map(toBytes);
  } else for (const inner of Object.values(value)) putBytes(inner);
}

function toBytes(base64: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}
