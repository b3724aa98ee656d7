import fc from 'fast-check';
import { OUTCOMES, type RequestRecord } from '../src/records/record.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const textOrNull = fc.option(text);
const ms = fc.nat(10 ** 9).map((us) => us / 1000);
const attempt = fc.record(
  {
    upstream: text,
    region: textOrNull,
    started_ms: ms,
    duration_ms: ms,
    status: fc.nat(599),
    error: text,
    grpc_status: fc.nat(16),
    retry: fc.record({ retried: fc.boolean(), why: text }),
  },
  { requiredKeys: ['upstream', 'region', 'started_ms', 'duration_ms'] },
);
const claim = fc.oneof(text, fc.nat(), fc.boolean(), fc.array(text, { maxLength: 3 }));

const waits = fc.record({ key_ms: ms, quota_ms: ms, connection_ms: ms, retry_ms: ms });
const newTimes = fc.record({ receiving_ms: ms, sending_ms: ms, waits: fc.option(waits) });

/** A record with any values that the schema allows. */
export const anyRecord: fc.Arbitrary<RequestRecord> = fc
  .tuple(fc.record({ gateway_ms: ms, upstream_ms: ms, total_ms: ms }), fc.option(newTimes), rest())
  .map(([timing, added, record]) => ({
    ...record,
    ...(added === null
      ? {
          timing: { ...timing, receiving_ms: null, waiting_ms: null, sending_ms: null },
          waits: null,
        }
      : {
          timing: {
            ...timing,
            receiving_ms: added.receiving_ms,
            waiting_ms: sumMs(added.waits),
            sending_ms: added.sending_ms,
          },
          waits: added.waits,
        }),
  }));

function sumMs(waits: RequestRecord['waits']): number {
  const ms = Object.values(waits ?? {});
  return ms.reduce((sum, one) => sum + Math.round(one * 1000), 0) / 1000;
}

function rest(): fc.Arbitrary<Omit<RequestRecord, 'timing' | 'waits'>> {
  return fc.record({
    id: text,
    environment: textOrNull,
    route: textOrNull,
    route_version: textOrNull,
    service_id: textOrNull,
    method: text,
    path: text,
    status: fc.option(fc.nat(599)),
    outcome: fc.constantFrom(...OUTCOMES),
    error_code: textOrNull,
    error_stage: textOrNull,
    received_at_ms: fc.nat(),
    upstream: fc.option(fc.record({ id: text, url: text, region: textOrNull })),
    retry_count: fc.nat(),
    attempts: fc.array(attempt, { maxLength: 4 }),
    rate_limit: fc.option(
      fc.record({ limit: fc.nat(), remaining: fc.nat(), reset_seconds: fc.nat() }),
    ),
    idempotency: textOrNull,
    token_id: textOrNull,
    subject: textOrNull,
    claims: fc.option(
      fc.dictionary(
        text.filter((name) => name !== '__proto__'),
        claim,
        { maxKeys: 3, noNullPrototype: true },
      ),
    ),
    client_ip: text,
    client_request_id: textOrNull,
    request_bytes: fc.nat(),
    response_bytes: fc.nat(),
    data_plane: text,
    config_version: fc.option(fc.nat()),
    trace_id: text,
    header_names: fc.option(fc.array(fc.stringMatching(/^[!-@[-~]{1,9}$/), { maxLength: 4 })),
    host: textOrNull,
    request_content_length: fc.option(fc.nat()),
    kind: fc.constantFrom('request', 'mirror'),
    match: textOrNull,
    caller_id: textOrNull,
    would_refuse: textOrNull,
    units: fc.option(fc.nat()),
    upstream_request_id: textOrNull,
    parent_id: textOrNull,
    policies: fc.option(fc.array(text, { maxLength: 3 })),
    grpc_status: fc.option(fc.nat(16)),
  });
}
