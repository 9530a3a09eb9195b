/** Entry for OpenTelemetry: only this entry loads `@opentelemetry/api`. */
export type { ShownKeys, ShownScope } from "../decision-log.ts";
export type { SendingEvent, SettlingEvent } from "../measurements.ts";
export { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from "./open-telemetry.ts";
