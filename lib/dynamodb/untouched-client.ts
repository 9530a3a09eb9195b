/**
 * Whether `send` of a client does what the SDK's does, and nothing else: no middleware of others stands in its stack, nobody
 * has put a function in the place of `send`, and requests are made, signed and written down as the SDK alone does it.
 */
import { PASSABLE, type PassableSend } from "../core/messages/passable-send.ts";
import type { SdkClient, StackEntry } from "./sdk-client.ts";

/** Tags the one middleware that may stand there: it notes the database's time, which direct requests read themselves. */
export const SERVER_TIME = "ONCEONLY_SERVER_TIME";

/** Configured by objects of a class, by functions, and by functions that are made for each client. */
const OF_CLASS = ["logger", "protocol"];
const OF_MODULE = ["httpAuthSchemeProvider", "signerConstructor"];
const OF_CLIENT = ["signer"];
const OTHERS = ["httpAuthSchemes", "requestHandler"];
const CONFIGURED = [...OF_CLASS, ...OF_MODULE, ...OF_CLIENT, ...OTHERS];

type Config = Readonly<Record<string, unknown>>;

/**
 * To be asked before each request, since tracers and mocks come and go: as long as all is as it was, it only looks.
 * @param reference a client as the SDK makes it
 */
export function untouched(client: SdkClient, reference: () => SdkClient): () => boolean {
  let seen: readonly unknown[] = [];
  let isUntouched = false;
  let made: SdkClient | undefined;
  return () => {
    try {
      const now = partsOf(client);
      if (now.length !== seen.length || now.some((part, index) => part !== seen[index])) {
        seen = now;
        isUntouched = false;
        made ??= reference();
        isUntouched = isAlike(client, made);
      }
      if (isUntouched) (client.send as PassableSend)[PASSABLE]?.prepare(client);
      return isUntouched;
    } catch {
      // Of a make that is not known here, such as a double.
      return false;
    }
  };
}

function partsOf({ send, config, middlewareStack }: SdkClient): readonly unknown[] {
  const parts: unknown[] = [send, config];
  for (const name of CONFIGURED) parts.push((config as unknown as Config)[name]);
  const add = (middleware: unknown) => parts.push(middleware);
  middlewareStack.applyToStack({ add, addRelativeTo: add });
  return parts;
}

function isAlike(client: SdkClient, reference: SdkClient): boolean {
  const [config, usual] = [client.config, reference.config] as unknown as readonly [Config, Config];
  return (
    client.send === reference.send &&
    isOfSdk(client.send) &&
    String(middlewaresOf(client)) === String(middlewaresOf(reference)) &&
    OF_CLASS.every((name) => Object(config[name]).constructor === Object(usual[name]).constructor) &&
    OF_MODULE.every((name) => config[name] === usual[name]) &&
    OF_CLIENT.every((name) => textOf(config[name]) === textOf(usual[name])) &&
    schemesOf(client) === schemesOf(reference) &&
    !client.config.requestHandler.metadata?.handlerProtocol?.includes("h2")
  );
}

/** A wrapper has no need of what the SDK's own does with a command. A proxy has no text. */
function isOfSdk(send: unknown): boolean {
  const inner = (send as PassableSend)[PASSABLE];
  return inner ? isOfSdk(inner.send) : textOf(send).includes(".resolveMiddleware(");
}

/** In their order, with their text: some are made anew for each client. */
function middlewaresOf({ middlewareStack }: SdkClient): readonly string[] {
  const texts: string[] = [];
  const add = (middleware: unknown, { name, tags }: StackEntry) => {
    if (!tags?.includes(SERVER_TIME)) texts.push(`${name} ${textOf(middleware)}`);
  };
  middlewareStack.applyToStack({ add, addRelativeTo: add });
  return texts;
}

function schemesOf({ config }: SdkClient): string {
  return config.httpAuthSchemes
    .map(({ schemeId, signer }) => `${schemeId} ${textOf(signer.constructor)}`)
    .join();
}

function textOf(made: unknown): string {
  return Function.prototype.toString.call(made);
}
