// The relay of OutboxRelay: sends the messages that operations committed, as the stream of the table brings them.
import { outboxRelay } from "../../lib/index.ts";
import { options } from "./sending.ts";

export const handler = outboxRelay(options);
