/** Binary message attributes: base64 in the JSON protocol, bytes in the model. */

/** A copy of a request in which the values of binary attributes are bytes. */
export function withBytes(json: unknown): unknown {
  return mapBinaryValues(json, (value) => Buffer.from(String(value), "base64"));
}

/** A copy of an answer in which the values of binary attributes are base64. */
export function withBase64(answer: unknown): unknown {
  return mapBinaryValues(answer, (value) => Buffer.from(value as Uint8Array).toString("base64"));
}

function mapBinaryValues(value: unknown, convert: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapBinaryValues(each, convert));
  if (typeof value !== "object" || value === null) return value;
  // Attributes, queues' attributes and tags may be called anything; what has a data type is an attribute's value.
  const isAttribute = "DataType" in value && typeof value.DataType === "string";
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isAttribute && name === "BinaryValue" && each != null ? convert(each) : mapBinaryValues(each, convert),
    ]),
  );
}
