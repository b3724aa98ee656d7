import { createIdFactory } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';

const newId = createIdFactory(() => Date.now());

/** A record of a usual size with an id of its own. */
export function newRecord(changes: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: newId('req'),
    environment: 'production',
    route: 'orders',
    route_version: null,
    service_id: 'svc_01hzzzzzzzzzzzzzzzzzzzzzzz',
    method: 'POST',
    path: '/v1/proxy/orders/items',
    status: 200,
    outcome: 'success',
    error_code: null,
    received_at_ms: Date.now(),
    timing: { gateway_ms: 0.4, upstream_ms: 3.1, total_ms: 3.5 },
    upstream: { id: 'ups_1', url: 'http://127.0.0.1:9000', region: null },
    retry_count: 0,
    attempts: [{ upstream: 'ups_1', region: null, started_ms: 0.2, duration_ms: 3.1, status: 200 }],
    rate_limit: { limit: 60_000, remaining: 59_999, reset_seconds: 60 },
    idempotency: null,
    token_id: 'tok_01hzzzzzzzzzzzzzzzzzzzzzzz',
    subject: null,
    claims: null,
    client_ip: '127.0.0.1',
    client_request_id: null,
    request_bytes: 80,
    response_bytes: 150,
    data_plane: 'test',
    config_version: 1,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    ...changes,
  };
}
