import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorMessage } from './error-code.ts';
import { guardProcess } from './guard.ts';
import { openLog, tailLog } from './log-file.ts';
import { StartError } from './start-error.ts';

/** How a process ended; exactly one of the two is set. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended, however that came about. */
  readonly exited: Promise<ProcessExit>;
  /** The last lines it wrote, newest last. */
  logs(count?: number): string[];
  /**
   * Asks it to stop and resolves when it has ended. What has not ended in time gets SIGKILL.
   * Called again it asks again with the given signal.
   */
  stop(signal?: NodeJS.Signals): Promise<ProcessExit>;
}

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** SIGTERM unless the process knows a better one. */
  readonly stopSignal?: NodeJS.Signals;
  /** From the ask to SIGKILL; 10 s unless given. */
  readonly stopTimeoutMs?: number;
}

/**
 * Starts a process in a session of its own: the terminal's Ctrl-C reaches only its owner, who stops
 * what it started in order. Its output goes straight to its log file, so that no reader of ours can
 * hold it up. It does not keep this process alive, and it ends with it (see guard.ts).
 *
 * @throws {StartError} when the command cannot be run
 */
export async function startProcess(spec: ProcessSpec): Promise<ManagedProcess> {
  const { name, logFile, stopSignal = 'SIGTERM', stopTimeoutMs = 10_000 } = spec;
  const log = await openLog(logFile);
  try {
    const child = spawn(spec.command, spec.args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: spec.env,
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
      ...(spec.uid === undefined ? {} : { uid: spec.uid }),
      ...(spec.gid === undefined ? {} : { gid: spec.gid }),
    });
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    await once(child, 'spawn');
    const { pid } = child;
    if (pid === undefined) throw new Error('it has no process id');
    const release = guardProcess(pid);
    void exited.then(release);
    child.unref();
    return {
      name,
      pid,
      logFile,
      exited,
      logs: (count = 40) => tailLog(logFile, count),
      stop: (signal = stopSignal) => {
        child.kill(signal);
        const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
        return exited.finally(() => clearTimeout(timer));
      },
    };
  } catch (error) {
    const reason = errorMessage(error);
    throw new StartError(`${name} could not be started: ${reason}`, { cause: error });
  } finally {
    await log.close();
  }
}
