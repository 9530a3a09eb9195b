/** The entry for OpenTelemetry: `@opentelemetry/api` is loaded by this entry only. */
export { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from "./open-telemetry.ts";
