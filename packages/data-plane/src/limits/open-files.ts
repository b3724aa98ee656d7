import { readFileSync } from 'node:fs';
import type { Logger } from '@gateway/shared/telemetry/logger';

/** The part of the open files that callers may take; the rest is for upstreams, NATS and the disk. */
const CALLERS_PART = 0.75;

/**
 * How many files this process may open, or undefined where the system does not say so under /proc.
 * Node raises the soft limit to the hard one before anything of ours runs.
 */
export function readOpenFilesLimit(): number | undefined {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'utf8');
  } catch (error) {
    // Not Linux; any other failure to read a file of the kernel's own is not expected.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

/**
 * The bound on connections of callers that the process can hold: without files left it could reach no
 * upstream, for anybody. Said once in the log where it is less than what was set.
 */
export function withinOpenFiles(
  maxConnections: number,
  openFiles: number | undefined,
  log: Logger,
): number {
  if (openFiles === undefined) return maxConnections;
  const possible = Math.max(1, Math.floor(openFiles * CALLERS_PART));
  if (possible >= maxConnections) return maxConnections;
  log.warn(
    { open_files: openFiles, max_connections: possible, asked: maxConnections },
    'MAX_CONNECTIONS exceeds the open file limit',
  );
  return possible;
}
