/** The page: looks again every few seconds, unless it is paused or hidden. */
import { useCallback, useEffect, useState } from "preact/hooks";
import type { ActAnswer, ConsoleLook, KeyLife } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { ask } from "./ask.ts";
import { Breakage } from "./breakage.tsx";
import { Decisions } from "./decisions.tsx";
import { Groups } from "./groups.tsx";
import { Life } from "./life.tsx";
import { Queues } from "./queues.tsx";
import { Records } from "./records.tsx";
import { clockOf } from "./words.ts";

export function App() {
  const [look, setLook] = useState<ConsoleLook | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const [isPaused, setPaused] = useState(false);
  const [message, setMessage] = useState("");
  const [opened, open, close] = useOpened();
  const life = useLife(opened, look?.at);
  const refresh = useCallback(async () => {
    try {
      setLook(await ask<ConsoleLook>("look"));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  }, []);
  useEffect(() => {
    void refresh();
  }, [refresh]);
  const perform: Perform = useCallback(
    async (act) => {
      const answer = await ask<ActAnswer>("act", act).catch((error: Error) => ({ message: error.message }));
      setMessage(answer.message);
      await refresh();
    },
    [refresh],
  );
  const refreshMs = look?.refreshMs ?? 2000;
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => document.hidden || void refresh(), refreshMs);
    return () => clearInterval(timer);
  }, [refresh, refreshMs, isPaused]);
  useKeys({
    p: () => setPaused((was) => !was),
    r: () => void refresh(),
    "/": () => document.getElementById("find-operation")?.focus(),
    Escape: close,
  });

  return (
    <>
      <header class="top">
        <h1>onceonly</h1>
        <p>{look?.title ?? "looking …"}</p>
        <p class={look?.mayWrite ? "badge writes" : "badge"}>{look?.mayWrite ? "may write" : "read-only"}</p>
        <p class="spacer">{look && <time>{clockOf(look.at)} UTC</time>}</p>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          Pause <kbd>p</kbd>
        </button>
        <button type="button" onClick={() => void refresh()}>
          Look again <kbd>r</kbd>
        </button>
      </header>
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {look?.problems.map((each) => (
        <p role="alert" class="problem" key={each}>
          {each}
        </p>
      ))}
      <p role="status" class="told">
        {message}
      </p>
      {look && (
        <main>
          <Records look={look} open={open} opened={opened} />
          <Life life={life.life} problem={life.problem} open={open} close={close} />
          {look.local && <Decisions decisions={look.local.decisions} now={look.at} open={open} />}
          <Groups look={look} open={open} perform={perform} />
          {look.local && <Queues queues={look.local.queues} mayWrite={look.mayWrite} perform={perform} />}
          {look.local && look.mayWrite && <Breakage breakage={look.local.breakage} perform={perform} />}
        </main>
      )}
      <footer>
        <p>
          <kbd>/</kbd> finds a key, <kbd>↑</kbd> <kbd>↓</kbd> move between records, <kbd>Esc</kbd> closes one.
        </p>
      </footer>
    </>
  );
}

/** The key that is open stands in the fragment by its hash, so that Back works. */
function useOpened() {
  const [opened, set] = useState(hashOfAddress);
  useEffect(() => {
    const read = () => set(hashOfAddress());
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const open = useCallback((keyHash: string) => {
    location.hash = keyHash;
  }, []);
  const close = useCallback(() => {
    if (location.hash !== "") location.hash = "";
  }, []);
  return [opened, open, close] as const;
}

const hashOfAddress = () => /^#([\w-]{43})$/.exec(location.hash)?.[1];

/** Reads the life of the open key again with every look. */
function useLife(keyHash: string | undefined, lookedAt: number | undefined) {
  const [state, set] = useState<{ life?: KeyLife; problem?: string }>({});
  useEffect(() => {
    if (keyHash === undefined) return set({});
    let isCurrent = true;
    ask<KeyLife>(`lives/${keyHash}`).then(
      (life) => isCurrent && set({ life }),
      (error: Error) => isCurrent && set({ problem: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [keyHash, lookedAt]);
  return state;
}

/** Keys of the whole page, except while somebody types. */
function useKeys(acts: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && event.key !== "Escape")) return;
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
