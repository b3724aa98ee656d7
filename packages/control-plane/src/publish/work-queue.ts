import PQueue from 'p-queue';

export interface WorkQueue {
  /** Runs the key once more, even if it is running now. Several calls before that run make one run. */
  add(key: string): void;
  /** Accepts no more work and resolves when what runs has ended. */
  stop(): Promise<void>;
}

/**
 * Runs keyed work: each key at most once at a time, at most `concurrency` keys at once, first come first
 * served. A key that is added while it runs is queued again when that run ends, so a run always
 * begins after the last addition of its key.
 *
 * @param run must not reject; it handles its failures itself.
 */
export function createWorkQueue(
  concurrency: number,
  run: (key: string) => Promise<void>,
): WorkQueue {
  const queue = new PQueue({ concurrency });
  /** Keys that must run, or run again. */
  const due = new Set<string>();
  /** Keys in the queue or running. */
  const queued = new Set<string>();
  let stopped = false;

  async function runOnce(key: string): Promise<void> {
    due.delete(key);
    await run(key);
    queued.delete(key);
    if (due.has(key)) enqueue(key);
  }

  function enqueue(key: string): void {
    queued.add(key);
    void queue.add(() => runOnce(key));
  }

  return {
    add(key) {
      if (stopped) return;
      due.add(key);
      if (!queued.has(key)) enqueue(key);
    },
    async stop() {
      stopped = true;
      due.clear();
      queue.clear();
      await queue.onIdle();
    },
  };
}
