import { readFileSync } from 'node:fs';
import { hasCode } from '../files/has-code.ts';
import type { Logger } from '@gateway/shared/telemetry/logger';

/** The share of the open files for client connections; the rest is for upstreams, NATS and the disk. */
const CALLERS_PART = 0.75;

/**
 * How many files this process may open, or undefined if the system has no /proc. Node raises the soft
 * limit to the hard limit at its start.
 */
export function readOpenFilesLimit(): number | undefined {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'utf8');
  } catch (error) {
    // Not Linux. No other error is expected when reading a kernel file.
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

/**
 * `maxConnections`, or fewer if the open file limit does not allow as many: a process without free files
 * could not reach any upstream. Logs a warning if it is fewer.
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
