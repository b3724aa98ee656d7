import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { Counter, type Registry } from 'prom-client';
import type { Database } from '../store/database.ts';
import { storeTokenUses } from './store/token-uses.ts';

/** Uses of a token that are closer together are stored once. */
const RESOLUTION_MS = 60_000;
const WRITE_EVERY_MS = 5000;
/** The largest number of tokens that wait to be written, and that are remembered as written. */
const MAX_TOKENS = 100_000;
const TOKENS_PER_STATEMENT = 5000;

export interface TokenUsesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly maxTokens?: number;
}

export interface TokenUses {
  /** Records a use of the token, ms since the Unix epoch, without I/O. */
  note(tokenId: string, atMs: number): void;
  /** Writes the waiting uses once, and ends. */
  stop(): Promise<void>;
}

/**
 * Maintains `last_used_at` of tokens: uses are collected in memory and written every few seconds, each
 * token at most once a minute. So a use is stored late, and a crash loses the uses of a few seconds. While
 * Postgres is unavailable they wait.
 */
export function startTokenUses(options: TokenUsesOptions): TokenUses {
  const { db, clock, log, maxTokens = MAX_TOKENS } = options;
  const waiting = new Map<string, number>();
  const written = new Map<string, number>();
  const stopping = new AbortController();
  const dropped = new Counter({
    name: 'gateway_control_plane_token_uses_dropped_total',
    help: 'Token uses that were not stored because too many tokens waited',
    registers: [options.registry],
  });
  let isFailing = false;

  function note(tokenId: string, atMs: number): void {
    const last = waiting.get(tokenId);
    // A data plane's clock may be ahead.
    const at = Math.min(atMs, clock.nowMs());
    if (last !== undefined) {
      if (at > last) waiting.set(tokenId, at);
      return;
    }
    if (at - (written.get(tokenId) ?? -Infinity) < RESOLUTION_MS) return;
    if (waiting.size >= maxTokens) dropped.inc();
    else waiting.set(tokenId, at);
  }

  async function write(): Promise<void> {
    while (waiting.size > 0) {
      const uses = [...waiting].slice(0, TOKENS_PER_STATEMENT);
      await storeTokenUses(db, uses, RESOLUTION_MS);
      for (const [id, atMs] of uses) {
        // A later use that came meanwhile is within the same minute unless Postgres is slow.
        waiting.delete(id);
        remember(id, atMs);
      }
    }
  }

  function remember(id: string, atMs: number): void {
    written.delete(id);
    written.set(id, atMs);
    if (written.size <= maxTokens) return;
    const oldest = written.keys().next();
    if (oldest.done !== true) written.delete(oldest.value);
  }

  async function writeOrLog(): Promise<void> {
    try {
      await write();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ reason: String(error) }, 'token uses not stored; retrying');
      isFailing = true;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, WRITE_EVERY_MS, stopping.signal);
      await writeOrLog();
    }
  }

  const ended = run();
  return {
    note,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}
