import { boundLog } from '../process/log-file.ts';
import type { ManagedProcess, ProcessExit } from '../process/managed-process.ts';
import { writeProcesses, type ProcessEntry } from './processes-file.ts';

const logBoundIntervalMs = 5000;

/** Knows what runs: keeps processes.json true, and stops everything in reverse order. */
export interface Supervisor {
  add(process: ManagedProcess, ports: readonly number[]): Promise<void>;
  /** Stops the processes one after the other, newest first; each gets SIGKILL past its time. */
  stop(): Promise<void>;
}

interface Watched {
  readonly entry: ProcessEntry;
  readonly process: ManagedProcess;
}

function describeExit({ code, signal }: ProcessExit): string {
  return signal ?? `exit code ${code ?? '?'}`;
}

/**
 * A process that ends while the stack runs, by an operator's hand or by itself, is named in one
 * line and stays stopped; the rest runs on.
 */
export function createSupervisor(dataDir: string, log: (line: string) => void): Supervisor {
  const running = new Set<Watched>();
  const state = { stopping: false };
  // Writes follow each other, so that the last one holds the last state.
  let written = Promise.resolve();

  function write(): Promise<void> {
    const entries = (): ProcessEntry[] => [...running].map(({ entry }) => entry);
    written = written
      .then(() => writeProcesses(dataDir, entries()))
      .catch((error: unknown) => log(`processes.json could not be written: ${String(error)}`));
    return written;
  }

  // It also keeps this process alive, which the children do not.
  const timer = setInterval(() => {
    for (const { process } of running) {
      boundLog(process.logFile).catch((error: unknown) => {
        log(`${process.logFile} could not be bounded: ${String(error)}`);
      });
    }
  }, logBoundIntervalMs);

  return {
    async add(process, ports) {
      const watched = { entry: { name: process.name, pid: process.pid, ports }, process };
      running.add(watched);
      void process.exited.then((exit) => {
        running.delete(watched);
        if (state.stopping) return;
        const how = describeExit(exit);
        log(`${process.name} (pid ${process.pid}) has stopped: ${how}; the rest runs on`);
        void write();
      });
      await write();
    },
    async stop() {
      state.stopping = true;
      clearInterval(timer);
      for (const { process } of [...running].reverse()) {
        log(`Stopping ${process.name} ...`);
        await process.stop();
      }
      await write();
    },
  };
}
