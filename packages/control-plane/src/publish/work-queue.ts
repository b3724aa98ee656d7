export interface WorkQueue {
  /** Runs the key once more after now, also where it runs at this moment. Many calls make one run. */
  add(key: string): void;
  /** Takes no more work and resolves when what runs has ended. */
  stop(): Promise<void>;
}

/**
 * Runs keyed work: each key at most once at a time, at most `concurrency` keys at once, in the order
 * in which they were added. Whoever adds a key after a change can rely on a run that begins later.
 *
 * @param run must not reject; what it learns of a failure it handles itself.
 */
export function createWorkQueue(
  concurrency: number,
  run: (key: string) => Promise<void>,
): WorkQueue {
  const waiting = new Set<string>();
  const running = new Set<string>();
  const ends = new Set<Promise<void>>();
  let stopped = false;

  async function runOne(key: string): Promise<void> {
    running.add(key);
    await run(key);
    running.delete(key);
  }

  function startWhatMay(): void {
    for (const key of waiting) {
      if (stopped || running.size >= concurrency) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      const end = runOne(key);
      ends.add(end);
      void end.then(() => {
        ends.delete(end);
        startWhatMay();
      });
    }
  }

  return {
    add(key) {
      if (stopped) return;
      waiting.add(key);
      startWhatMay();
    },
    async stop() {
      stopped = true;
      waiting.clear();
      await Promise.all(ends);
    },
  };
}
