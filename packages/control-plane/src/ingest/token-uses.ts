import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { Counter, type Registry } from 'prom-client';
import type { Database } from '../store/database.ts';
import { noteTokenUses } from '../store/tokens/token-uses.ts';

/** Uses of a token that are closer together count as one. */
const RESOLUTION_MS = 60_000;
const WRITE_EVERY_MS = 5000;
/** So many tokens at one time wait to be noted, and as many are remembered as noted. */
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
  /** A call that this token opened, ms since the Unix epoch. Costs no I/O. */
  note(tokenId: string, atMs: number): void;
  /** Writes what waits, once, and ends. */
  stop(): Promise<void>;
}

/**
 * Keeps `last_used_at` of tokens: uses are gathered in memory and written every few seconds, and a
 * token is written at most once a minute however much it is used. A use is late by that much; what a
 * crash loses is the uses of a few seconds. Where Postgres is away they wait.
 */
export function startTokenUses(options: TokenUsesOptions): TokenUses {
  const { db, clock, log, maxTokens = MAX_TOKENS } = options;
  const waiting = new Map<string, number>();
  const written = new Map<string, number>();
  const stopping = new AbortController();
  const dropped = new Counter({
    name: 'gateway_control_plane_token_uses_dropped_total',
    help: 'Uses of tokens that were not noted, as too many tokens waited to be written.',
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
      await noteTokenUses(db, uses, RESOLUTION_MS);
      for (const [id, atMs] of uses) {
        // A later use that came meanwhile is within the same minute, but for a slow Postgres.
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

  async function tryToWrite(): Promise<void> {
    try {
      await write();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ reason: String(error) }, 'cannot note when tokens were used');
      isFailing = true;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, WRITE_EVERY_MS, stopping.signal);
      await tryToWrite();
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
