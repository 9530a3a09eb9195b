/** The fingerprint of a multipart form: its parts, without the boundary, which is a new one in each try. */
import { Fingerprint } from "../../core/fingerprint.ts";
import type { HttpRequestEvent } from "../options.ts";
import { type RawEvent, readHttpEvent } from "./event.ts";
import { httpFingerprint, targetOf } from "./fingerprint.ts";

/** A `fingerprint` that reads the whole request, body included, on Lambda and on servers. */
export interface RequestFingerprint {
  (event: unknown): unknown;
  readonly isOfEvent: true;
}

/**
 * Makes a `fingerprint` for uploads (`multipart/form-data`): method, route, query and the parts of the form in their order,
 * with their headers and bytes. A client that retries a form usually sends it with another boundary, which doesn't count.
 * Any other body counts by its bytes, as by default, and so does a form that two parsers could read differently.
 * @throws InvalidOptionError (`INVALID_OPTION`) on events whose body was already parsed.
 */
export function fingerprintFromMultipart(): RequestFingerprint {
  const fingerprint = (event: unknown) => {
    const parts = partsOf(event as HttpRequestEvent);
    return parts
      ? new Fingerprint("multipart", ...targetOf(event as RawEvent), ...parts)
      : httpFingerprint(event);
  };
  return Object.assign(fingerprint, { isOfEvent: true as const });
}

/** One boundary, and no other parameter: RFC 2046, section 5.1.1. */
const TYPE =
  /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'+.-]{1,70}))[ \t]*$/i;

/** Header and content of each part in turn; `undefined` if the body isn't exactly a form. */
function partsOf(event: HttpRequestEvent): readonly Buffer[] | undefined {
  const { body, isBase64Encoded } = event;
  const [type = "", ...others] = readHttpEvent(event).headers("content-type");
  const [, quoted, bare] = TYPE.exec(type) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined || others.length > 0 || typeof body !== "string") return undefined;
  // A lone surrogate has no bytes of its own.
  if (!isBase64Encoded && Buffer.from(body).toString() !== body) return undefined;
  // One character for each byte.
  const text = Buffer.from(body, isBase64Encoded ? "base64" : "utf8").toString("latin1");
  const [before, ...parts] = `\r\n${text}`.split(`\r\n--${boundary}`);
  const end = parts.pop();
  if (before !== "" || parts.length === 0 || !/^--(?:\r\n)?$/.test(`${end}`)) return undefined;
  const read = parts.map((part) =>
    /^\r\n(content-disposition: *form-data;[\s\S]*?)\r\n\r\n([\s\S]*)$/i.exec(part),
  );
  if (!read.every((part) => part !== null)) return undefined;
  // A parser that accepts other line ends would find more parts.
  if (parts.some((part) => part.includes(`--${boundary}`))) return undefined;
  return read.flatMap(([, header = "", content = ""]) => [
    Buffer.from(header, "latin1"),
    Buffer.from(content, "latin1"),
  ]);
}
