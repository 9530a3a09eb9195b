// A module as `--store` takes one, without an outbox, which counts how often it is closed.
import { MemoryStore } from "../../../lib/testing/memory-store.ts";

export const closed = { times: 0 };

// biome-ignore lint/style/noDefaultExport: the command line asks for it
export default {
  store: new MemoryStore(),
  close: () => {
    closed.times++;
  },
};
