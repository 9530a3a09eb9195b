/** Claim tokens that name the trace in which their attempt began, so that the record of an execution keeps it. Pure. */
import { readTraceparent } from "../../core/traceparent.ts";

/** 56 bytes: this mark, and a trace context. */
const MARK = "~";

/** The token stays just as unique. */
export const tokenWithTrace = (token: string, traceparent: string | undefined): string =>
  traceparent === undefined ? token : `${token}${MARK}${traceparent}`;

/** The trace context in a token; `undefined` for a token without one. */
export const traceOfToken = (token: string): string | undefined =>
  readTraceparent(token.slice(token.lastIndexOf(MARK) + 1));
