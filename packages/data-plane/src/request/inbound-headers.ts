import { eachField, filterFields, type HeaderFields } from '@gateway/http1/fields/header-fields';
import { inboundField, SINGLE } from './inbound-fields.ts';

/** What one pass over the header fields of a request finds: the fields that the gateway acts on. */
export interface InboundHeaders {
  /** All of them, as they came. */
  readonly raw: HeaderFields;
  /** Every value of `Connection`, each after a comma. */
  readonly connection: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  /** Whether `Connection` names it, so that it is not for an upstream. */
  readonly authorizationIsHopByHop: boolean;
  readonly apiKey: string | undefined;
  readonly expectContinue: boolean;
  readonly forwardedFor: string | undefined;
  readonly forwardedProto: string | undefined;
  readonly forwardedHost: string | undefined;
  readonly via: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly clientRequestId: string | undefined;
  readonly environment: string | undefined;
  /** The version that the caller asks for by name. */
  readonly version: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** A field that occurs twice but must be unique, because two systems might use different values. */
  readonly repeated: string | undefined;
}

/**
 * Whether the upstream gets an idempotency key, by which it can tell that a request is repeated. An empty field is no key,
 * and a field that `Connection` names does not leave the gateway.
 */
export function sendsIdempotencyKey(inbound: InboundHeaders): boolean {
  const { idempotencyKey: key, connection } = inbound;
  return key !== undefined && key !== '' && !names(connection, 'idempotency-key');
}

const NONE_FOUND: readonly (string | undefined)[] = Object.values(SINGLE).map(() => undefined);

export function parseInboundHeaders(raw: HeaderFields): InboundHeaders {
  const found = NONE_FOUND.slice();
  let connection = '';
  let expectContinue = false;
  let forwardedFor: string | undefined;
  let via: string | undefined;
  let tracestate: string | undefined;
  let repeated: string | undefined;

  eachField(raw, (rawName, value) => {
    const { name, single, passed } = inboundField(rawName);
    if (single !== undefined) {
      if (found[single] !== undefined) repeated = name;
      found[single] = value;
    }
    if (passed || single !== undefined) return;
    switch (name) {
      case 'connection':
        connection += `,${value}`;
        break;
      case 'expect':
        expectContinue ||= asksToContinue(value);
        break;
      case 'x-forwarded-for':
        forwardedFor = join(forwardedFor, value);
        break;
      case 'via':
        via = join(via, value);
        break;
      case 'tracestate':
        tracestate = join(tracestate, value);
        break;
    }
  });
  const authorization = found[SINGLE.authorization];
  return {
    raw,
    connection,
    host: found[SINGLE.host],
    authorization,
    authorizationIsHopByHop: authorization !== undefined && names(connection, 'authorization'),
    apiKey: found[SINGLE['x-api-key']],
    expectContinue,
    forwardedFor,
    forwardedProto: found[SINGLE['x-forwarded-proto']],
    forwardedHost: found[SINGLE['x-forwarded-host']],
    via,
    traceparent: found[SINGLE.traceparent],
    tracestate,
    clientRequestId: found[SINGLE['x-request-id']],
    environment: found[SINGLE['x-gateway-environment']],
    version: found[SINGLE['x-gateway-version']],
    idempotencyKey: found[SINGLE['idempotency-key']],
    repeated,
  };
}

/**
 * A list of the end-to-end fields that the gateway neither sets nor drops. It is made when the request is forwarded and
 * not kept, so that a request that is refused does not make it.
 */
export function forwardedFields({ raw, connection }: InboundHeaders): string[] {
  return withoutNamed(
    filterFields(raw, (name) => inboundField(name).passed),
    connection,
  );
}

/** RFC 9110 section 10.1.1: a list; the gateway knows one of its members. */
function asksToContinue(expect: string): boolean {
  return /(?:^|,)[ \t]*100-continue[ \t]*(?:,|$)/i.test(expect);
}

function join(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

const PLAIN_CONNECTION = /^,(?:keep-alive|close|upgrade)?$/i;

/** Whether `Connection` names this field, which is given in lower case. */
function names(connection: string, field: string): boolean {
  if (connection === '' || PLAIN_CONNECTION.test(connection)) return false;
  return connection.split(',').some((name) => name.trim().toLowerCase() === field);
}

/** Drops the fields that `Connection` names as hop-by-hop, whatever they are. */
export function withoutNamed(fields: string[], connection: string): string[] {
  if (connection === '' || PLAIN_CONNECTION.test(connection)) return fields;
  const named = new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
  return filterFields(fields, (name) => !named.has(name.toLowerCase()));
}
