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
    retry: fc.record({ retried: fc.boolean(), why: text }),
  },
  { requiredKeys: ['upstream', 'region', 'started_ms', 'duration_ms'] },
);
const claim = fc.oneof(text, fc.nat(), fc.boolean(), fc.array(text, { maxLength: 3 }));

/** A record with any values that the schema allows. */
export const anyRecord: fc.Arbitrary<RequestRecord> = fc.record({
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
  timing: fc.record({ gateway_ms: ms, upstream_ms: ms, total_ms: ms }),
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
});
