/** Binary message attributes: base64 in the JSON protocol, bytes in the model. */

/** Copies a request, with binary attributes as bytes. */
export function withBytes(json: unknown): unknown {
  return mapBinaryValues(json, (value) => Buffer.from(String(value), "base64"));
}

/** Copies an answer, with binary attributes as base64. */
export function withBase64(answer: unknown): unknown {
  return mapBinaryValues(answer, (value) => Buffer.from(value as Uint8Array).toString("base64"));
}

function mapBinaryValues(value: unknown, convert: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapBinaryValues(each, convert));
  if (typeof value !== "object" || value === null) return value;
  // Message attributes, queue attributes and tags may have any name. Only the value of a message attribute
  // has a data type.
  const isAttribute = "DataType" in value && typeof value.DataType === "string";
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isAttribute && name === "BinaryValue" && each != null ? convert(each) : mapBinaryValues(each, convert),
    ]),
  );
}
