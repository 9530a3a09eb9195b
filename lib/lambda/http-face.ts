/** HTTP: the key comes from a header, errors of onceonly become responses, replays say that they are. */
import { checkOptions } from "../core/option-checks.ts";
import { type EngineOptions, resolveOptions } from "../core/options.ts";
import type { Face } from "./exchange.ts";
import { type HttpEvent, httpFingerprint, readHttpEvent } from "./http-event.ts";
import { parseKeyHeader } from "./http-key.ts";
import { problemFor } from "./http-problem.ts";
import { answerWith, isFinalResponse, toStoredResponse } from "./http-response.ts";
import { HTTP_CHECKS, type HttpIdempotencyOptions } from "./options.ts";
import { type Reading, readCall } from "./reading.ts";

/** Kept back from the gateway's limit for the answer to travel. */
const GATEWAY_MARGIN_MS = 1000;

export function httpFace<Event, Write>(options: HttpIdempotencyOptions<Event, Write>): Face<Write> {
  checkOptions(options, HTTP_CHECKS, ["scope"]);
  const { key, scope, whenKeyMissing, methods, header, strict, ...given } = options;
  const engineOptions = resolveOptions({
    ...given,
    fingerprint: given.fingerprint ?? httpFingerprint,
    shouldStore: given.shouldStore ?? isFinalResponse,
  } as EngineOptions<Write>);
  const keyMethods = methods ?? ["POST", "PATCH"];
  return {
    options: engineOptions,
    begin: (event, context) => {
      const http = readHttpEvent(event);
      let keyHash: string | undefined;
      const keyOfHeader = () => parseKeyHeader(http.headers(header ?? "Idempotency-Key"), strict ?? false);
      const reading = {
        options: engineOptions,
        key: key ?? keyOfHeader,
        scope,
        whenKeyMissing: whenKeyMissing ?? "reject",
      } as Reading<Write>;
      return {
        call: () => {
          if (!keyMethods.includes(http.method)) return undefined;
          const call = readCall(reading, event, context);
          keyHash = call.identity.keyHash;
          return {
            ...call,
            waitUntil: callerWaitsUntil(http, engineOptions.clock.now()),
            toStored: (value) => toStoredResponse(value, http),
          };
        },
        answer: (outcome) => answerWith(outcome, http),
        refuse: (error) => {
          const problem = problemFor(error, http, keyHash, engineOptions.clock.now());
          if (problem === undefined) throw error;
          return problem;
        },
      };
    },
  };
}

/** The sooner of what the caller prefers (`Prefer: wait=10`, RFC 7240) and what the gateway allows. */
function callerWaitsUntil(http: HttpEvent, now: number): number {
  const preferred = /(?:^|,)\s*wait\s*=\s*"?(\d+)/i.exec(http.headers("Prefer").join())?.[1];
  const gateway = (http.gatewayEndsAt ?? Number.POSITIVE_INFINITY) - GATEWAY_MARGIN_MS;
  return preferred === undefined ? gateway : Math.min(gateway, now + Number(preferred) * 1000);
}
