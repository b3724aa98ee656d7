import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { ForwardedFields } from '@gateway/http/message/message-writer';
import type { CallerAddress } from '../locations/route-addresses.ts';
import { callerPrefix } from './caller-prefix.ts';
import type { RequestContext } from './context.ts';
import {
  forwardedHost,
  forwardedPort,
  forwardedPrefix,
  forwardedScheme,
  portOf,
} from './forwarded-values.ts';
import { valueOf } from './reach-route.ts';

/** The scheme, as the upstream gets it in `X-Forwarded-Proto`. */
export function callerScheme(ctx: RequestContext): string {
  return (
    (ctx.fromTrustedProxy ? forwardedScheme(ctx.inbound.forwardedProto) : undefined) ?? ctx.protocol
  );
}

/** The host and its port, as the upstream gets them in `X-Forwarded-Host`; undefined: the caller named none. */
export function callerHost(ctx: RequestContext): string | undefined {
  const { inbound, authority } = ctx;
  return (
    (ctx.fromTrustedProxy ? forwardedHost(inbound.forwardedHost) : undefined) ??
    authority ??
    inbound.host
  );
}

/** The port, as the upstream gets it in `X-Forwarded-Port`. */
function callerPort(ctx: RequestContext, scheme: string, host = ''): string {
  return forwardedPort(portOf(host)) ?? proxysPort(ctx) ?? (isSecure(scheme) ? '443' : '80');
}

function proxysPort(ctx: RequestContext): string | undefined {
  return ctx.fromTrustedProxy ? forwardedPort(valueOf(ctx.inbound, 'x-forwarded-port')) : undefined;
}

/** The caller's prefix, after that of a trusted proxy, as the upstream gets it in `X-Forwarded-Prefix`. */
function forwardedCallerPrefix(ctx: RequestContext): string {
  const own = callerPrefix(ctx.target, ctx.route?.rewrite?.path?.stripPrefix);
  if (!ctx.fromTrustedProxy) return own;
  return forwardedPrefix(valueOf(ctx.inbound, 'x-forwarded-prefix')) + own;
}

/** How the caller reached the route. */
export function callerAddress(ctx: RequestContext): CallerAddress {
  const scheme = isSecure(callerScheme(ctx)) ? 'https' : 'http';
  const host = callerHost(ctx);
  const port = callerPort(ctx, scheme, host);
  // Some proxies name their own port, and not that of the caller.
  const isUsual = port === '443' || port === '80';
  const hasPort = host !== undefined && portOf(host) !== '';
  return {
    scheme,
    authority: host === undefined || hasPort || isUsual ? host : `${host}:${port}`,
    prefix: forwardedCallerPrefix(ctx),
  };
}

function isSecure(scheme: string): boolean {
  return scheme.endsWith('s') || scheme.endsWith('S');
}

/** With these an upstream can write the addresses of the caller. Only routes that map what it writes send them. */
export function addressFields(ctx: RequestContext): HeaderFields {
  const prefix = forwardedCallerPrefix(ctx);
  const port = callerPort(ctx, callerScheme(ctx), callerHost(ctx));
  const fields = ['x-forwarded-port', port];
  return prefix === '' ? fields : [...fields, 'x-forwarded-prefix', prefix];
}

interface KnownFields {
  readonly host: string | undefined;
  readonly protocol: string;
  readonly way: RequestContext['target']['way'];
  readonly fields: ForwardedFields;
}

/** Those of the last caller of each route, because most callers reach a route in the same way. */
const known = new WeakMap<object, KnownFields>();

/** `addressFields`, whose lines are mostly made already. */
export function forwardedAddress(ctx: RequestContext): ForwardedFields {
  const { route, fromTrustedProxy, protocol } = ctx;
  const { way } = ctx.target;
  if (route === undefined || fromTrustedProxy) return new ForwardedFields(addressFields(ctx));
  const host = callerHost(ctx);
  const last = known.get(route);
  if (last?.host === host && last?.protocol === protocol && last.way === way) return last.fields;
  const fields = new ForwardedFields(addressFields(ctx));
  known.set(route, { host, protocol, way, fields });
  return fields;
}
