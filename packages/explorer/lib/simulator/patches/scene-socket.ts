/**
 * The connection of a scene's HTTP client: without a system's socket, and on the scene's time. Its other end
 * is a stream, from which an HTTP server reads.
 */
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Scene } from "../scene.ts";

export interface FarEnd {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number | undefined;
}

/** The server's end. */
export class OtherEnd extends Duplex {
  readonly scene: Scene;
  readonly target: FarEnd;
  readonly client: SceneSocket;

  constructor(scene: Scene, target: FarEnd, client: SceneSocket) {
    super({ allowHalfOpen: true });
    this.scene = scene;
    this.target = target;
    this.client = client;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.client.receive(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.client.receive(null);
    done();
  }
}

/** A `Socket` that is connected from the beginning, as one that an agent kept. */
export class SceneSocket extends Socket {
  readonly otherEnd: OtherEnd;
  readonly encrypted: boolean;
  readonly authorized: boolean;
  readonly #scene: Scene;
  readonly #closed = new AbortController();
  #idleMs = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(scene: Scene, target: FarEnd) {
    super();
    this.#scene = scene;
    this.encrypted = target.protocol === "https:";
    this.authorized = this.encrypted;
    this.otherEnd = new OtherEnd(scene, target, this);
  }

  /** Aborted when the client has closed the connection. */
  get closedSignal(): AbortSignal {
    return this.#closed.signal;
  }

  receive(chunk: Buffer | null): void {
    if (this.destroyed || this.readableEnded) return;
    this.#restartTimer();
    this.push(chunk);
  }

  getPeerCertificate(): object {
    return {};
  }

  override setTimeout(ms: number, listener?: () => void): this {
    if (listener && ms > 0) this.once("timeout", listener);
    else if (listener) this.off("timeout", listener);
    this.#idleMs = ms;
    this.#restartTimer();
    return this;
  }

  override setNoDelay(): this {
    return this;
  }

  override setKeepAlive(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#restartTimer();
    if (!this.otherEnd.destroyed) this.otherEnd.push(chunk, encoding);
    done();
  }

  override _writev(chunks: readonly { chunk: Buffer; encoding: BufferEncoding }[], done: () => void): void {
    for (const { chunk, encoding } of chunks) this._write(chunk, encoding, () => undefined);
    done();
  }

  override _final(done: () => void): void {
    if (!this.otherEnd.destroyed) this.otherEnd.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancelTimer();
    this.#closed.abort();
    this.otherEnd.destroy();
    super._destroy(error, done);
  }

  #restartTimer(): void {
    this.#cancelTimer();
    if (this.#idleMs > 0 && !this.destroyed) {
      this.#cancelTimer = this.#scene.after(this.#idleMs, () => this.emit("timeout"));
    }
  }
}
