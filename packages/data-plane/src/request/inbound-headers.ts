import { eachField, filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import type { CommonFields } from '@gateway/http/message/field-template';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import { isGrpcContentType } from '@gateway/shared/http/grpc';
import { INDEX, inboundField, NONE_FOUND } from './inbound-fields.ts';

/** What one pass over the header fields of a request finds: the fields that the gateway acts on. */
export interface InboundHeaders {
  /** All of them, as they came. */
  readonly raw: HeaderFields;
  /** What they have in common with those of other requests, if values vary. */
  readonly common: CommonFields | undefined;
  /** Every value of `Connection`, with commas between them. */
  readonly connection: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  /** Whether `Connection` names it, so that it is not for an upstream. */
  readonly authorizationIsHopByHop: boolean;
  readonly apiKey: string | undefined;
  readonly expectContinue: boolean;
  /** Whether the caller takes trailers of the response, if its version of HTTP has them. */
  readonly takesTrailers: boolean;
  /** The trailers that it announces. */
  readonly trailer: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly forwardedProto: string | undefined;
  readonly forwardedHost: string | undefined;
  readonly via: string | undefined;
  readonly cdnLoop: string | undefined;
  readonly origin: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly clientRequestId: string | undefined;
  readonly environment: string | undefined;
  /** The version that the caller asks for by name. */
  readonly version: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Whether the request is a gRPC call. */
  readonly isGrpc: boolean;
  /** How long the caller waits, as gRPC has it; undefined also if `Connection` names the field. */
  readonly grpcTimeout: string | undefined;
  /** Whether a field that counts as one occurs more than once with the same value. */
  readonly hasEqual: boolean;
  /** A field with different values, of which two systems might use different ones. */
  readonly repeated: string | undefined;
  /** The same, if a trusted proxy has sent them. */
  readonly repeatedByProxy: string | undefined;
}

/**
 * Whether the upstream gets an idempotency key, by which it can tell that a request is repeated. An empty field is no key,
 * and a field that `Connection` names does not leave the gateway.
 */
export function sendsIdempotencyKey(inbound: InboundHeaders): boolean {
  const { idempotencyKey: key, connection } = inbound;
  return key !== undefined && key !== '' && !names(connection, 'idempotency-key');
}

/** The values of the fields that the gateway acts on, and what is to say of those that occur more than once. */
interface Found extends Pick<InboundHeaders, 'hasEqual' | 'repeated' | 'repeatedByProxy'> {
  readonly values: readonly (string | undefined)[];
}

/**
 * Finds the fields that the gateway acts on, each as the table of request fields says. Requests with the same list of
 * fields share the result.
 */
export function inboundHeaders(raw: HeaderFields, common?: CommonFields): InboundHeaders {
  if (common === undefined) return inboundOfList(raw);
  const found = foundIn(common.fields);
  const values = found.values.slice();
  for (const position of common.varying) {
    const { at } = inboundField(raw[position - 1] ?? '');
    if (at !== undefined) values[at] = raw[position];
  }
  return inboundOf(raw, common, values, found);
}

const inboundOfList = cacheByFields((raw) => {
  const found = find(raw);
  return inboundOf(raw, undefined, found.values, found);
});

const foundIn = cacheByFields(find);

function find(raw: HeaderFields): Found {
  const values = NONE_FOUND.slice();
  let hasEqual = false;
  let repeated: string | undefined;
  let repeatedByProxy: string | undefined;
  /** The indices of fields whose values do not count. */
  let ignored: number[] | undefined;

  eachField(raw, (rawName, value) => {
    const { name, at, differing } = inboundField(rawName);
    if (at === undefined) return;
    const before = values[at];
    if (before === undefined) values[at] = value;
    else if (differing === 'list') values[at] = `${before}, ${value}`;
    else if (before === value) hasEqual = true;
    else if (differing === 'ignored') (ignored ??= []).push(at);
    else if (differing === 'refused_of_proxy') repeatedByProxy ??= name;
    else repeated ??= name;
  });
  if (ignored !== undefined) for (const at of ignored) values[at] = undefined;
  return { values, hasEqual, repeated, repeatedByProxy };
}

function inboundOf(
  raw: HeaderFields,
  common: CommonFields | undefined,
  values: readonly (string | undefined)[],
  { hasEqual, repeated, repeatedByProxy }: Found,
): InboundHeaders {
  const connection = values[INDEX.connection] ?? '';
  const authorization = values[INDEX.authorization];
  const grpcTimeout = values[INDEX['grpc-timeout']];
  return {
    raw,
    common,
    connection,
    host: values[INDEX.host],
    authorization,
    authorizationIsHopByHop: authorization !== undefined && names(connection, 'authorization'),
    apiKey: values[INDEX['x-api-key']],
    expectContinue: asksToContinue(values[INDEX.expect]),
    takesTrailers: asksForTrailers(values[INDEX.te], connection),
    trailer: values[INDEX.trailer],
    forwardedFor: values[INDEX['x-forwarded-for']],
    forwardedProto: values[INDEX['x-forwarded-proto']],
    forwardedHost: values[INDEX['x-forwarded-host']],
    via: values[INDEX.via],
    cdnLoop: values[INDEX['cdn-loop']],
    origin: values[INDEX.origin],
    traceparent: values[INDEX.traceparent],
    tracestate: values[INDEX.tracestate],
    clientRequestId: values[INDEX['x-request-id']],
    environment: values[INDEX['x-gateway-environment']],
    version: values[INDEX['x-gateway-version']],
    idempotencyKey: values[INDEX['idempotency-key']],
    isGrpc: isGrpcContentType(values[INDEX['content-type']]),
    grpcTimeout:
      grpcTimeout === undefined || names(connection, 'grpc-timeout') ? undefined : grpcTimeout,
    hasEqual,
    repeated,
    repeatedByProxy,
  };
}

/** Whether the list of forwarded fields depends on a field with this name. */
export function affectsForwarded(name: string): boolean {
  const field = inboundField(name);
  return field.passed || field.name === 'connection';
}

/**
 * A list of the end-to-end fields that the gateway neither sets nor drops. It is made when the request is forwarded and
 * not kept, so that a request that is refused does not make it.
 */
export function forwardedFields({ raw, connection, hasEqual }: InboundHeaders): string[] {
  const passed = filterFields(raw, (name) => inboundField(name).passed);
  return withoutNamed(hasEqual ? withoutEqual(passed) : passed, connection);
}

/** Drops the equal values of fields that count as one, but the first. The values of a list are all kept. */
function withoutEqual(fields: HeaderFields): string[] {
  const seen = new Set<number>();
  return filterFields(fields, (rawName) => {
    const { at, differing } = inboundField(rawName);
    if (at === undefined || differing === 'list') return true;
    if (seen.has(at)) return false;
    seen.add(at);
    return true;
  });
}

/** RFC 9110 section 10.1.1: a list; the gateway knows one of its members. */
function asksToContinue(expect: string | undefined): boolean {
  return expect !== undefined && /(?:^|,)[ \t]*100-continue[ \t]*(?:,|$)/i.test(expect);
}

const ONLY_TRAILERS = /^trailers(?:[ \t]*,[ \t]*trailers)*$/i;

/**
 * RFC 9110 section 10.1.4: a sender names `TE` in `Connection`. Over HTTP/2 it cannot, and many clients of HTTP/1.1 do not,
 * so a field that says nothing else counts too.
 */
function asksForTrailers(te: string | undefined, connection: string): boolean {
  if (te === undefined) return false;
  if (ONLY_TRAILERS.test(te)) return true;
  return names(connection, 'te') && /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i.test(te);
}

const PLAIN_CONNECTION = /^,?(?:keep-alive|close|upgrade)?$/i;

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
