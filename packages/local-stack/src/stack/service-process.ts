import { probePort } from '@gateway/shared/ports/probe-port';
import { freePort } from '../process/free-port.ts';
import { startProcess, type ManagedProcess } from '../process/managed-process.ts';
import { StartError } from '@gateway/tools/process/errors';
import { waitUntilReady } from '../process/wait-until-ready.ts';

/** A control plane, a data plane or the demo upstream as a process. */
export interface ServiceProcess extends ManagedProcess {
  /** On 127.0.0.1: its port, then its admin port. */
  readonly ports: readonly number[];
  readonly baseUrl: string;
  readonly adminUrl: string;
}

export interface ServiceOptions {
  readonly name: string;
  readonly logFile: string;
  /** The file that Node runs; by default that of this working copy. */
  readonly main?: string;
  /** By default a free port. */
  readonly port?: number;
  readonly adminPort?: number;
  readonly env: NodeJS.ProcessEnv;
  /** Command prefix, such as `['taskset', '-c', '0']`; it must exec the command that follows. */
  readonly launcher?: readonly string[];
  /** Options of Node itself, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[];
  /** If false, the start resolves as soon as the process runs, and the caller polls /readyz. */
  readonly waitForReady?: boolean;
  readonly readyTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Longer than the planes' own stop timeout, so that a plane is killed only if that one does not work. */
const stopTimeoutMs = 15_000;

/** How the kinds of services differ. */
export interface ServiceKind {
  /** The file that Node runs, after it was built if need be. */
  readonly main: () => string | Promise<string>;
  readonly portVariable: string;
  /** Absent if the service has no admin port; then its port answers `readyPath`. */
  readonly adminPortVariable?: string;
  readonly readyPath: string;
}

/** Rejects while the service does not accept connections. */
async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
  await response.arrayBuffer();
  return response.ok;
}

async function checkFree(name: string, port: number): Promise<void> {
  try {
    await probePort(port);
  } catch (error) {
    throw new StartError(`${name} cannot listen on port ${port}: it is in use`, {
      cause: error,
    });
  }
}

/**
 * Starts a service with this Node and resolves when it is ready.
 *
 * @throws {StartError} with the last error that it logged
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
  const node = [process.execPath, ...nodeArgs, options.main ?? (await kind.main())];
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
