import type { RequestRecord } from '@gateway/shared/records/record';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { symbols } from 'pino';

interface LineWriter {
  write(line: string): void;
}

/**
 * Writes one line for each request at level `info`, with nothing in it that its record does not hold.
 * The line goes straight to the logger's destination: the logger's own way of making it costs more
 * than the rest of the request's bookkeeping together.
 */
export function createRequestLog(log: Logger): (record: RequestRecord) => void {
  const stream = (log as unknown as Record<symbol, LineWriter>)[symbols.streamSym];
  const name = String(log.bindings()['name'] ?? '');
  return (record) => {
    if (!log.isLevelEnabled('info')) return;
    const line = JSON.stringify({
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
    });
    stream?.write(`${line}\n`);
  };
}
