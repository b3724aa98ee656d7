import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RequestRecord } from '@gateway/shared/records/record';

/** One line for each request, with nothing in it that its record does not hold. */
export function logRequest(log: Logger, record: RequestRecord): void {
  log.info(
    {
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
    },
    'request',
  );
}
