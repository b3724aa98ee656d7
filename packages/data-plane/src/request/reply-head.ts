import { decimalText } from '../text/decimal-text.ts';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { HEADER, HOP_BY_HOP_FIELDS, UPSTREAM_NAMES } from '@gateway/shared/http/headers';
import { eachField, filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import { cacheByName } from '@gateway/http/fields/name-cache';
import { PassedFields } from '@gateway/http/message/message-writer';
import { withoutNamed } from './inbound-headers.ts';

const HOP_BY_HOP = new Set(HOP_BY_HOP_FIELDS);
const OWN = new Set<string>(Object.values(HEADER));
const GATEWAY_PREFIX = 'x-gateway-';
const RENAMED = new Map(Object.entries(UPSTREAM_NAMES));
const NEW_NAMES = new Set(Object.values(UPSTREAM_NAMES).map((name) => name.toLowerCase()));

/**
 * How a response field is handled, by its name. `own` are the gateway's, which no upstream may set; `renamed` too, but
 * they go on under another name; `farther` have such a name already, from a gateway behind this one.
 */
const handlingOf = cacheByName(
  (rawName): 'connection' | 'dropped' | 'own' | 'renamed' | 'farther' | 'passed' => {
    const name = rawName.toLowerCase();
    if (name === 'connection') return name;
    if (HOP_BY_HOP.has(name)) return 'dropped';
    if (RENAMED.has(name)) return 'renamed';
    if (NEW_NAMES.has(name)) return 'farther';
    return OWN.has(name) || name.startsWith(GATEWAY_PREFIX) ? 'own' : 'passed';
  },
);

/** The end-to-end fields of a response that is not of an upstream but of the control plane, as they came. */
export function controlPlaneFields(raw: HeaderFields): string[] {
  const fields: string[] = [];
  let connection = '';
  eachField(raw, (rawName, value) => {
    const handling = handlingOf(rawName);
    if (handling === 'connection') connection += `,${value}`;
    else if (handling !== 'dropped') fields.push(rawName, value);
  });
  return withoutNamed(fields, connection);
}

/** Where the request id that the upstream gave its response is noted. */
export interface UpstreamIds {
  upstreamRequestId: string | undefined;
}

/**
 * The end-to-end fields of an upstream's response. Those whose names the gateway uses itself get the names in
 * `UPSTREAM_NAMES`. If the upstream is such a gateway too, they speak of the upstream, not of what is behind it.
 */
export function endToEndFields(raw: HeaderFields, ids?: UpstreamIds): HeaderFields {
  return passedFields(raw, ids).fields;
}

/** As `endToEndFields`, to be sent on. */
export function passedFields(raw: HeaderFields, ids?: UpstreamIds): PassedFields {
  const { passed, requestId } = passedOf(raw);
  if (ids !== undefined) ids.upstreamRequestId ??= requestId;
  return passed;
}

const passedOf = cacheByFields((raw) => {
  const fields: string[] = [];
  let connection = '';
  let requestId: string | undefined;
  /** Both are rare. */
  let renamed: Set<string> | undefined;
  let farther: string[] | undefined;
  eachField(raw, (rawName, value) => {
    const handling = handlingOf(rawName);
    if (handling === 'passed') fields.push(rawName, value);
    else if (handling === 'connection') connection += `,${value}`;
    else if (handling === 'farther') (farther ??= []).push(rawName, value);
    else if (handling === 'renamed') {
      const name = rawName.toLowerCase();
      const newName = RENAMED.get(name) ?? rawName;
      if (name === HEADER.requestId) requestId ??= value;
      (renamed ??= new Set()).add(newName.toLowerCase());
      fields.push(newName, value);
    }
  });
  if (farther !== undefined) {
    eachField(farther, (rawName, value) => {
      if (renamed?.has(rawName.toLowerCase()) !== true) fields.push(rawName, value);
    });
  }
  return { passed: new PassedFields(withoutNamed(fields, connection)), requestId };
});

/** A 1xx has no length (RFC 9110 section 8.6). A cookie would be stored, whatever the final response says. */
const NOT_IN_HINTS = new Set(['content-length', 'set-cookie']);

/** The fields of a 103 of an upstream that its caller gets. */
export function hintFields(raw: HeaderFields): string[] {
  return filterFields(endToEndFields(raw), (name) => !NOT_IN_HINTS.has(name.toLowerCase()));
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
