/**
 * What one pass over the header lines of a request finds: the fields that the gateway acts on, and
 * those that go on to the upstream as they stand.
 */
export interface InboundHeaders {
  /** How many there are. */
  readonly lines: number;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  /** Whether `Connection` names it, so that it is not meant for an upstream. */
  readonly authorizationEndsHere: boolean;
  readonly apiKey: string | undefined;
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  /** Every Transfer-Encoding line, in lower case; undefined where there is none. */
  readonly transferCoding: string | undefined;
  readonly expectContinue: boolean;
  readonly forwardedFor: string | undefined;
  readonly forwardedProto: string | undefined;
  readonly forwardedHost: string | undefined;
  readonly via: string | undefined;
  readonly traceparent: string | undefined;
  readonly clientRequestId: string | undefined;
  readonly environment: string | undefined;
  /** The version that the caller asks for by name. */
  readonly version: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** A field that must stand alone and does not: two parts of a system might read different ones. */
  readonly repeated: string | undefined;
  /** Name, value, name, value: end-to-end fields that the gateway neither sets nor drops. */
  readonly endToEnd: string[];
}

type Single =
  | 'host'
  | 'authorization'
  | 'apiKey'
  | 'forwardedProto'
  | 'forwardedHost'
  | 'traceparent'
  | 'clientRequestId'
  | 'environment'
  | 'version'
  | 'idempotencyKey';

/** Fields of which there must be no second line. */
const SINGLE: ReadonlyMap<string, Single> = new Map([
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['x-api-key', 'apiKey'],
  ['x-forwarded-proto', 'forwardedProto'],
  ['x-forwarded-host', 'forwardedHost'],
  ['traceparent', 'traceparent'],
  ['x-request-id', 'clientRequestId'],
  ['x-gateway-environment', 'environment'],
  ['x-gateway-version', 'version'],
  ['idempotency-key', 'idempotencyKey'],
]);

/**
 * Never sent on: hop-by-hop fields (RFC 9110 section 7.6.1), the framing, which the gateway does anew,
 * and the names that say who the gateway says the caller is.
 */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'expect',
  'host',
  'authorization',
  'x-api-key',
  'via',
  'traceparent',
  'forwarded',
  'x-real-ip',
  'x-request-id',
  // A CGI upstream would take it for the variable that names its own proxy.
  'proxy',
]);

const GATEWAY_PREFIX = 'x-gateway-';
const FORWARDED_PREFIX = 'x-forwarded-';

/** Reads the header lines as they came (`rawHeaders` of node:http). */
export function parseInboundHeaders(raw: readonly string[]): InboundHeaders {
  const found: Partial<Record<Single, string>> = {};
  const endToEnd: string[] = [];
  let connection = '';
  let contentLength: number | undefined;
  let transferCoding: string | undefined;
  let expectContinue = false;
  let forwardedFor: string | undefined;
  let via: string | undefined;
  let repeated: string | undefined;

  for (let index = 0; index < raw.length; index += 2) {
    const rawName = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    const name = rawName.toLowerCase();
    const single = SINGLE.get(name);
    if (single !== undefined) {
      if (found[single] !== undefined) repeated = name;
      found[single] = value;
      // These mean something to the upstream as well, an API key unless it is the gateway's.
      if (name === 'idempotency-key' || name === 'x-api-key') endToEnd.push(rawName, value);
      continue;
    }
    if (name === 'connection') connection += `,${value}`;
    else if (name === 'content-length') contentLength = Number(value);
    else if (name === 'transfer-encoding') {
      transferCoding = join(transferCoding, value.toLowerCase());
    } else if (name === 'expect') expectContinue ||= asksToContinue(value);
    else if (name === 'x-forwarded-for') forwardedFor = join(forwardedFor, value);
    else if (name === 'via') via = join(via, value);
    else if (!isDropped(name)) endToEnd.push(rawName, value);
  }
  return {
    lines: raw.length / 2,
    host: found.host,
    authorization: found.authorization,
    authorizationEndsHere: found.authorization !== undefined && names(connection, 'authorization'),
    apiKey: found.apiKey,
    contentLength,
    chunked: transferCoding !== undefined,
    transferCoding,
    expectContinue,
    forwardedFor,
    forwardedProto: found.forwardedProto,
    forwardedHost: found.forwardedHost,
    via,
    traceparent: found.traceparent,
    clientRequestId: found.clientRequestId,
    environment: found.environment,
    version: found.version,
    idempotencyKey: found.idempotencyKey,
    repeated,
    endToEnd: withoutNamed(endToEnd, connection),
  };
}

/** A name with underscores counts as the one with dashes, as CGI and WSGI upstreams cannot tell them apart. */
function isDropped(name: string): boolean {
  const dashed = name.includes('_') ? name.replaceAll('_', '-') : name;
  return (
    DROPPED.has(dashed) || dashed.startsWith(GATEWAY_PREFIX) || dashed.startsWith(FORWARDED_PREFIX)
  );
}

/** RFC 9110 section 10.1.1: a list, of which the gateway knows one member. */
function asksToContinue(expect: string): boolean {
  return /(?:^|,)[ \t]*100-continue[ \t]*(?:,|$)/i.test(expect);
}

function join(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

const PLAIN_CONNECTION = /^,(?:keep-alive|close|upgrade)?$/i;

/** Whether `Connection` names this field, given in lower case. */
function names(connection: string, field: string): boolean {
  if (connection === '' || PLAIN_CONNECTION.test(connection)) return false;
  return connection.split(',').some((name) => name.trim().toLowerCase() === field);
}

/** Drops the fields that `Connection` names as hop-by-hop, whatever they are. */
export function withoutNamed(fields: string[], connection: string): string[] {
  if (connection === '' || PLAIN_CONNECTION.test(connection)) return fields;
  const named = new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    if (!named.has(name.toLowerCase())) kept.push(name, fields[index + 1] ?? '');
  }
  return kept;
}
