import type { Logger } from '@gateway/shared/telemetry/logger';
import { symbols } from 'pino';

interface LineWriter {
  write(line: string): void;
}

/**
 * Writes one line for each request at level `info`: its record, so that nothing is in the log that the
 * record does not hold. The record's JSON is made once for the log and for the stream; a pass through
 * the logger would cost as much again as the rest of the request's bookkeeping.
 */
export function createRequestLog(log: Logger): (recordJson: string, receivedAtMs: number) => void {
  const stream = (log as unknown as Record<symbol, LineWriter>)[symbols.streamSym];
  const { name } = log.bindings();
  const head = `{"level":"info","name":${JSON.stringify(name ?? '')},"time":"`;
  return (recordJson, receivedAtMs) => {
    if (!log.isLevelEnabled('info')) return;
    const time = new Date(receivedAtMs).toISOString();
    stream?.write(`${head}${time}","msg":"request","request":${recordJson}}\n`);
  };
}
