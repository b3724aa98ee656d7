import { decimalText } from '@gateway/shared/decimal-text';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { HEADER, HOP_BY_HOP_FIELDS } from '@gateway/shared/http/headers';
import { eachField, type HeaderFields } from '@gateway/http1/fields/header-fields';
import { cacheByName } from '@gateway/http1/fields/name-cache';
import { withoutNamed } from './inbound-headers.ts';

const HOP_BY_HOP = new Set(HOP_BY_HOP_FIELDS);
const OWN = new Set<string>(Object.values(HEADER));
const GATEWAY_PREFIX = 'x-gateway-';

/** How a response field is handled, by its name; `own` are the gateway's, which no upstream may set. */
const handlingOf = cacheByName((rawName): 'connection' | 'dropped' | 'own' | 'passed' => {
  const name = rawName.toLowerCase();
  if (name === 'connection') return name;
  if (HOP_BY_HOP.has(name)) return 'dropped';
  return OWN.has(name) || name.startsWith(GATEWAY_PREFIX) ? 'own' : 'passed';
});

/** The end-to-end fields of an upstream's response, as they came. */
export function endToEndFields(raw: HeaderFields, dropOwn: boolean): string[] {
  const fields: string[] = [];
  let connection = '';
  eachField(raw, (rawName, value) => {
    const handling = handlingOf(rawName);
    if (handling === 'connection') connection += `,${value}`;
    else if (handling === 'passed' || (handling === 'own' && !dropOwn)) fields.push(rawName, value);
  });
  return withoutNamed(fields, connection);
}

/** The fields that every response of a data plane carries. */
export function gatewayFields(id: string, gatewayUs: number, window: FixedWindow): string[] {
  return [
    'X-Request-Id',
    id,
    'X-Gateway-Latency',
    String(Math.round(gatewayUs / 1000)),
    'X-RateLimit-Limit',
    String(window.limit),
    'X-RateLimit-Remaining',
    decimalText(window.remaining),
    'X-RateLimit-Reset',
    String(window.resetSeconds),
  ];
}
