// The sweeper of OutboxRelay: sends, on a schedule, the messages that the stream has lost.
import { outboxSweeper } from "../../lib/index.ts";
import { options } from "./sending.ts";

export const handler = outboxSweeper(options);
