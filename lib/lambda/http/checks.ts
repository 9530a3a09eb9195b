/** The checks of the options of the HTTP adapters. */
import { aFunction, type Check, instance, oneOf } from "../../core/option-checks.ts";
import { type HttpIdempotencyOptions, WRAPPER_CHECKS } from "../options.ts";

const isText = (value: unknown) => typeof value === "string";

export const HTTP_CHECKS: Readonly<Record<keyof HttpIdempotencyOptions, Check>> = {
  ...WRAPPER_CHECKS,
  methods: [
    'must be an array of method names in capitals, such as ["POST"]',
    (value) => Array.isArray(value) && value.length > 0 && value.every((name) => /^[A-Z-]+$/.test(name)),
  ],
  // RFC 9110 section 5.6.2.
  header: [
    "must be a header name",
    (value) => typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value),
  ],
  skip: aFunction,
  strict: oneOf(true, false),
  profile: instance("a profile, such as `acpProfile`", "problem"),
  responseHeaders: [
    "must be an object of header values (strings), or a function that returns one",
    (value) =>
      typeof value === "function" || (Object(value) === value && Object.values(Object(value)).every(isText)),
  ],
};
