import { truncateLog } from '../process/log-file.ts';
import type { ManagedProcess, ProcessExit } from '../process/managed-process.ts';
import { writeProcesses, type ProcessEntry } from './processes-file.ts';

const logCheckIntervalMs = 5000;

/** Keeps processes.json up to date, and stops all processes in reverse order of their start. */
export interface Supervisor {
  add(process: ManagedProcess, ports: readonly number[]): Promise<void>;
  /** Stops the processes one after the other, last started first; one that does not stop in time gets SIGKILL. */
  stop(): Promise<void>;
}

interface Watched {
  readonly entry: ProcessEntry;
  readonly process: ManagedProcess;
}

function describeExit({ code, signal }: ProcessExit): string {
  return signal ?? `exit code ${code ?? '?'}`;
}

/** If a process ends while the stack runs, one line says so. It is not restarted, and the others keep running. */
export function createSupervisor(dataDir: string, log: (line: string) => void): Supervisor {
  const running = new Set<Watched>();
  const state = { stopping: false };
  // Writes run one after the other, so that the last one writes the latest state.
  let written = Promise.resolve();

  function write(): Promise<void> {
    const entries = (): ProcessEntry[] => [...running].map(({ entry }) => entry);
    written = written
      .then(() => writeProcesses(dataDir, entries()))
      .catch((error: unknown) => log(`processes.json not written: ${String(error)}`));
    return written;
  }

  // The timer also keeps this process alive; the child processes do not.
  const timer = setInterval(() => {
    for (const { process } of running) {
      truncateLog(process.logFile).catch((error: unknown) => {
        log(`${process.logFile} not truncated: ${String(error)}`);
      });
    }
  }, logCheckIntervalMs);

  return {
    async add(process, ports) {
      const watched = { entry: { name: process.name, pid: process.pid, ports }, process };
      running.add(watched);
      void process.exited.then((exit) => {
        running.delete(watched);
        if (state.stopping) return;
        const how = describeExit(exit);
        log(
          `${process.name} (pid ${process.pid}) has stopped: ${how}; the other processes keep running`,
        );
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
