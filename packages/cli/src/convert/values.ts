import type { RouteDraft, WayPath } from './draft.ts';

/*
 * What the API takes as a host, a path, a header field and a number. Values that it would refuse become remarks instead
 * of a file that cannot be applied.
 */

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(String.raw`^(?=.{1,253}$)(?:\*\.)?${LABEL}(?:\.${LABEL})*$`);

/** A host without case and port as `match` has it; undefined: it has no equivalent. */
export function hostOf(text: string): string | undefined {
  const host = text.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return HOST.test(host) ? host : undefined;
}

const MAX_PATH_CHARS = 1024;

/** Whether a path can stand in `match` and in `rewrite`: it has its normal form, and nothing that a template would read. */
export function isPath(path: string): boolean {
  return (
    path.length <= MAX_PATH_CHARS &&
    /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/.test(path) &&
    !/%(?![0-9A-F]{2})/.test(path) &&
    !/%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/.test(path) &&
    !/\/(?:\.{0,2})(?:\/|$)/.test(path.replace(/\/$/, '')) &&
    !path.includes('//')
  );
}

/** What an upstream could read as another path: escapes of its separators and of dots, bytes above ASCII, segments of dots. */
const ODD_PATH = /%(?:[01]|25|2F|3B|5C|7F|[89A-F])|\/(?:%20)*\.+(?:[^\w.-]|$)/;

/** Whether a path can be that of an upstream in `rewrite`. */
export function isUpstreamPath(path: string): boolean {
  return isPath(path) && !ODD_PATH.test(path);
}

/** Of one way to a route, each with another name. */
export const MAX_MATCH_HEADERS = 8;
const MAX_HEADER_CHARS = 128;

export function isFieldName(name: string): boolean {
  return name.length <= MAX_HEADER_CHARS && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

/** Whether a constant can be the value of a field; a brace would begin a variable. */
export function isFieldValue(value: string): boolean {
  return (
    value.length <= MAX_PATH_CHARS &&
    /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(value) &&
    !/[{}]/.test(value)
  );
}

/** Names of fields, parameters and settings that often have a secret as their value. */
const SECRET_NAME = /auth|cookie|credential|key|passw|secret|session|signature|token/i;
/** A value such as of a key: long and without words. */
const SECRET_VALUE = /^(?:basic |bearer )|^(?=.*\d)[\w+/=.~-]{20,}$/i;

/** Whether a value may be a secret, so that it must not be written. */
export function mayBeSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

/** Field names that the API refuses: they frame, authenticate, address or trace a request, or carry what the gateway says. */
const REFUSED = new Set(
  (
    'host connection http2-settings keep-alive persistent-auth proxy-authenticate proxy-connection proxy-support te ' +
    'trailer transfer-encoding upgrade content-length expect max-forwards forwarded via cdn-loop traceparent ' +
    'tracestate idempotency-key idempotent-replayed authorization proxy-authorization cookie set-cookie x-api-key ' +
    'grpc-timeout proxy x-request-id x-upstream-request-id x-upstream-ratelimit-limit x-upstream-ratelimit-remaining ' +
    'x-upstream-ratelimit-reset www-authenticate'
  ).split(' '),
);
const REFUSED_START = /^(?:x-gateway-|x-ratelimit-|x-forwarded-|sec-websocket-)/;

/** Whether a field can stand neither in `rewrite` nor in `match` nor in `affinity`. */
export function isRefusedField(name: string): boolean {
  const folded = name.toLowerCase().replaceAll(/[-_]+/g, '-');
  return REFUSED.has(folded) || REFUSED_START.test(folded);
}

const HOST_VALUE =
  /^(?=.{1,253}(?::|$))(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*(?::[1-9][0-9]{0,3})?$/i;

/** Whether `rewrite.host` can have it: a host with an optional port. */
export function isHostValue(text: string): boolean {
  return HOST_VALUE.test(text) && text !== 'upstream' && text !== 'preserve';
}

/** More than the longest name with a port. */
const MAX_ADDRESS_CHARS = 300;

/** Whether it is an address for the URL of a service: a name or an IP address with an optional port. */
export function isAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS_CHARS) return false;
  if (!/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(text)) return false;
  const url = `http://${text}`;
  return URL.canParse(url) && new URL(url).port !== '0' && !/^\.|\.\./.test(text);
}

/** An origin of `cors` as browsers send it; undefined: the text is no origin. */
export function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[A-Za-z0-9.-]+(?::[1-9]\d{0,4})?$/.test(text) || !URL.canParse(text)) {
    return undefined;
  }
  const { origin, hostname } = new URL(text);
  return HOST.test(hostname) ? origin : undefined;
}

/** Whether `health_path` can have it. */
export function isHealthPath(path: string): boolean {
  return /^\/[\x21\x22\x24-\x7e]{0,1023}$/.test(path);
}

const METHOD = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$/;
const NEVER = new Set(['CONNECT', 'TRACE', 'PRI', '*']);
/** Of a route. */
export const MAX_METHODS = 64;

/** Those of some methods that the gateway forwards. */
export function forwardable(methods: readonly string[]): readonly string[] {
  return [...new Set(methods)].filter((one) => METHOD.test(one) && !NEVER.has(one));
}

/** The methods that a route accepts; null: all. Those that the gateway never forwards are a remark. */
export function setMethods(
  route: RouteDraft,
  methods: readonly string[] | undefined,
  place: string,
): void {
  if (methods === undefined || methods.length === 0) return;
  const possible = forwardable(methods);
  route.methods = possible.slice(0, MAX_METHODS);
  if (possible.length === 0) route.leftOut ??= 'the gateway forwards none of its methods';
  else if (possible.length < new Set(methods).size || possible.length > MAX_METHODS) {
    route.missing(place, 'methods that the gateway never forwards, such as TRACE', 'methods');
  }
}

const MAX_TIMEOUT_MS = 300_000;
/** The default of the data plane, and of the three sources. */
const BODY_IDLE_TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;

/** A whole number within bounds. */
export function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round(value)));
}

/** Sets the deadline of a route to the time that the source waits for the upstream. */
export function setTimeoutMs(route: RouteDraft, timeoutMs: number, place: string): void {
  const ms = within(timeoutMs, 1, MAX_TIMEOUT_MS);
  if (timeoutMs > MAX_TIMEOUT_MS || timeoutMs <= 0) {
    route.different(
      place,
      `a response must begin within 300 s, not ${timeoutMs / 1000} s`,
      'timeout_ms',
    );
  }
  route.fields.set('timeout_ms', timeoutMs <= 0 ? MAX_TIMEOUT_MS : ms);
  // The source counts the silence of a response with the same clock.
  if (timeoutMs > 0 && timeoutMs !== BODY_IDLE_TIMEOUT_MS) {
    route.fields.set('body_idle_timeout_ms', within(timeoutMs, 1, DAY_MS));
  }
}

export const MAX_BODY_BYTES = 1024 ** 3;

/** The way of paths that begin with these, as a source without segments means it. */
export function prefixPath(path: string): WayPath {
  return { kind: 'prefix', path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path };
}
