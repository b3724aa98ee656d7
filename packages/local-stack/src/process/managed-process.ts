import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorMessage, StartError } from '@gateway/tools/process/errors';
import { guardProcess } from './guard.ts';
import { openLog, tailLog } from './log-file.ts';

/** How a process ended; exactly one of the two is not null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended, whatever the reason. */
  readonly exited: Promise<ProcessExit>;
  /** The last lines of its output, newest last. */
  logs(count?: number): string[];
  /**
   * Sends the signal and resolves when the process has ended. If it has not ended in time it gets SIGKILL. A further call
   * sends its signal too.
   */
  stop(signal?: NodeJS.Signals): Promise<ProcessExit>;
}

/** A server of the stack, such as Postgres or NATS, that other processes connect to. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** On 127.0.0.1. */
  readonly port: number;
  readonly process: ManagedProcess;
  stop(): Promise<void>;
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
  /** By default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** From the stop signal to SIGKILL; by default 10 s. */
  readonly stopTimeoutMs?: number;
}

/**
 * Starts a process in its own session, so that Ctrl-C in the terminal reaches only this process, which stops what it started
 * in order. The output goes directly to the log file, so that a slow reader cannot block the process. The process does not
 * keep this one alive, and ends with it (see guard.ts).
 *
 * @throws {StartError} if the command cannot be run
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
    if (pid === undefined) throw new Error('the process has no pid');
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
