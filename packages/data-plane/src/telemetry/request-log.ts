import type { Clock, Timer } from '@gateway/shared/clock';
import type { RequestRecord } from '@gateway/shared/records/record';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { symbols } from 'pino';

interface LineWriter {
  write(lines: string): void;
}

export interface RequestLog {
  /** Writes one line for a request, with nothing in it that its record does not hold. */
  add(record: RequestRecord): void;
  /** Hands on what waits; to be called before the process ends. */
  flush(): void;
}

/** Lines are handed on when there are so many characters of them, or after this time. */
const BLOCK_CHARS = 32 * 1024;
const FLUSH_MS = 200;

/**
 * The log lines of requests, at level `info`. They go to the logger's destination in blocks: the
 * destination measures all that it holds at every write, which for single lines costs more than the
 * rest of the request's bookkeeping together.
 */
export function createRequestLog(log: Logger, clock: Clock): RequestLog {
  const stream = (log as unknown as Record<symbol, LineWriter>)[symbols.streamSym];
  const name = String(log.bindings()['name'] ?? '');
  let block = '';
  let timer: Timer | undefined;

  function flush(): void {
    timer?.cancel();
    timer = undefined;
    if (block === '') return;
    const lines = block;
    block = '';
    stream?.write(lines);
  }

  return {
    add(record) {
      if (!log.isLevelEnabled('info')) return;
      block += `${JSON.stringify(lineOf(record, name))}\n`;
      if (block.length >= BLOCK_CHARS) flush();
      else {
        timer ??= clock.setTimer(FLUSH_MS, () => {
          timer = undefined;
          flush();
        });
      }
    },
    flush,
  };
}

function lineOf(record: RequestRecord, name: string) {
  return {
    level: 'info',
    time: new Date(record.received_at_ms).toISOString(),
    name,
    msg: 'request',
    request_id: record.id,
    environment: record.environment,
    route: record.route,
    method: record.method,
    status: record.status,
    outcome: record.outcome,
    error_code: record.error_code,
    upstream: record.upstream?.id,
    retries: record.retry_count,
    gateway_ms: record.timing.gateway_ms,
    total_ms: record.timing.total_ms,
    token_id: record.token_id,
    client_ip: record.client_ip,
  };
}
