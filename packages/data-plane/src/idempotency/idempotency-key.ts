import { readKeyField } from '@gateway/shared/http/idempotency-key';
import { refuseField } from '../request/check-head.ts';

const FIELD = 'idempotency-key';

/**
 * Parses an `Idempotency-Key` field; see `readKeyField`.
 *
 * @throws GatewayError `invalid_request`, which never contains the key
 */
export function parseIdempotencyKey(value: string): string {
  const read = readKeyField(value);
  if (read.fault !== undefined) throw refuseField(FIELD, read.fault);
  return read.key;
}
