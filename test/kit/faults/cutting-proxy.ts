// A TCP proxy on loopback between a client and any server. It ends, or silences, a connection at the nth message.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * Where the fault happens. `request`: the message never reaches the server, and the connection ends. `answer`: the server got
 * the message, and the connection ends instead of the answer. `silence`: nothing passes any more, and nobody is informed, as when
 * packets are dropped. `half-silence`: only what the server sends gets lost.
 */
export type Cut = "request" | "answer" | "silence" | "half-silence";

export const CUTS = ["request", "answer", "silence", "half-silence"] as const;

export interface CuttingProxy {
  readonly port: number;
  /** How many messages clients have sent since the last plan: chunks of TCP, as a client writes them. */
  readonly messages: number;
  /**
   * The nth message from now on, over all connections, meets the fault. The promise resolves then. For one certain message,
   * give a text that only this message contains: pools also open connections and end sessions when a test doesn't expect it.
   */
  cutAt(message: number | string, cut: Cut): Promise<void>;
  /** No more faults. Connections that are silent end, as when an operating system gives them up. */
  heal(): void;
  /** Ends all connections, by RST. */
  cutAll(): void;
  /** Silences all connections that are there; `later`: and those to come, until it heals. */
  silenceAll(later?: boolean): void;
  close(): void;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  state: "open" | "answer" | "silence" | "half-silence";
}

export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const links = new Set<Link>();
  let messages = 0;
  let isSilent = false;
  let plan: { readonly message: number | string; readonly cut: Cut; readonly hit: () => void } | undefined;
  const isPlanned = (chunk: Buffer) =>
    typeof plan?.message === "string" ? chunk.includes(plan.message) : plan?.message === messages;

  const cutLink = (link: Link) => {
    links.delete(link);
    link.client.resetAndDestroy();
    link.server.destroy();
  };
  const listener = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    const link: Link = { client, server, state: isSilent ? "silence" : "open" };
    links.add(link);
    const end = () => {
      // The other side doesn't learn of it until the proxy heals.
      if (link.state.endsWith("silence")) return;
      links.delete(link);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.setNoDelay().on("error", end).on("close", end);
    client.on("data", (chunk) => {
      messages++;
      if (plan && isPlanned(chunk)) {
        const { cut, hit } = plan;
        plan = undefined;
        if (cut === "request") cutLink(link);
        else link.state = cut;
        hit();
      }
      if (link.state !== "silence") server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (link.state === "answer") cutLink(link);
      else if (link.state === "open") client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));

  return {
    port: (listener.address() as AddressInfo).port,
    get messages() {
      return messages;
    },
    cutAt: (message, cut) =>
      new Promise((hit) => {
        messages = 0;
        plan = { message, cut, hit };
      }),
    heal: () => {
      plan = undefined;
      isSilent = false;
      for (const link of links) if (link.state !== "open") cutLink(link);
    },
    cutAll: () => links.forEach(cutLink),
    silenceAll: (later = false) => {
      isSilent = later;
      for (const link of links) link.state = "silence";
    },
    close: () => {
      listener.close();
      for (const { client, server } of links) {
        client.destroy();
        server.destroy();
      }
    },
  };
}
