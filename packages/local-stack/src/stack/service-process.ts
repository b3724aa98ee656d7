import { fileURLToPath } from 'node:url';
import { freePort, probePort } from '../process/free-port.ts';
import { startProcess, type ManagedProcess } from '../process/managed-process.ts';
import { StartError } from '../process/start-error.ts';
import { waitUntilReady } from '../process/wait-until-ready.ts';

/** A process of ours that serves HTTP: a plane, or the demo upstream. */
export interface ServiceProcess extends ManagedProcess {
  /** What it listens on at 127.0.0.1: the port it serves, then its admin port. */
  readonly ports: readonly number[];
  readonly baseUrl: string;
  readonly adminUrl: string;
}

export interface ServiceOptions {
  readonly name: string;
  readonly logFile: string;
  /** A free port unless given. */
  readonly port?: number;
  readonly adminPort?: number;
  readonly env: NodeJS.ProcessEnv;
  /** Put before the Node binary, such as `['taskset', '-c', '0']`; must exec what follows. */
  readonly launcher?: readonly string[];
  /** Options of Node itself, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[];
  /** False returns as soon as the process runs; then the caller polls /readyz itself. */
  readonly waitForReady?: boolean;
  readonly readyTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Longer than the planes' own bound, so that they are killed only when that one fails. */
const stopTimeoutMs = 15_000;

/** What tells one kind of service from another. */
export interface ServiceKind {
  /** Its main file, from this package. */
  readonly main: URL;
  readonly portVariable: string;
  /** Absent where the service has no admin port; then its own port answers `readyPath`. */
  readonly adminPortVariable?: string;
  readonly readyPath: string;
}

/** The answer decides readiness; a service that does not take the connection is not ready. */
async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
  await response.arrayBuffer();
  return response.ok;
}

async function checkFree(name: string, port: number): Promise<void> {
  try {
    await probePort(port);
  } catch (error) {
    throw new StartError(`${name} cannot listen on port ${port}, which is in use`, {
      cause: error,
    });
  }
}

/**
 * Starts a service under this Node and resolves when it says that it is ready.
 *
 * @throws {StartError} with the last line that it logged
 */
export async function startService(
  kind: ServiceKind,
  options: ServiceOptions,
): Promise<ServiceProcess> {
  const { name, logFile, launcher = [], nodeArgs = [], waitForReady = true } = options;
  const port = options.port ?? (await freePort());
  const ports = new Map([[kind.portVariable, port]]);
  if (kind.adminPortVariable !== undefined) {
    ports.set(kind.adminPortVariable, options.adminPort ?? (await freePort()));
  }
  for (const one of ports.values()) await checkFree(name, one);
  const node = [process.execPath, ...nodeArgs, fileURLToPath(kind.main)];
  const [command = process.execPath, ...args] = [...launcher, ...node];
  const variables = Object.fromEntries([...ports].map(([key, one]) => [key, String(one)]));
  const started = await startProcess({
    name,
    command,
    args,
    logFile,
    stopTimeoutMs,
    env: { ...process.env, ...options.env, ...variables },
  });
  const adminUrl = `http://127.0.0.1:${ports.get(kind.adminPortVariable ?? '') ?? port}`;
  if (waitForReady) {
    await waitUntilReady(started, {
      check: () => answersOk(adminUrl + kind.readyPath),
      timeoutMs: options.readyTimeoutMs ?? 30_000,
      signal: options.signal,
    });
  }
  const baseUrl = `http://127.0.0.1:${port}`;
  return { ...started, ports: [...ports.values()], baseUrl, adminUrl };
}
