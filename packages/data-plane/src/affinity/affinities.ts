import { eachField } from '@gateway/http/fields/header-fields';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RandomSource } from '@gateway/shared/ids';
import { addressGroup } from '@gateway/shared/net/client-address';
import { callerPrefix } from '../request/caller-prefix.ts';
import { refuseField } from '../request/check-head.ts';
import type { RequestContext } from '../request/context.ts';
import type { RequestAffinity } from '../request/request-affinity.ts';
import type { CompiledAffinity } from '../routing-table/compile-affinity.ts';
import type { CompiledVersion } from '../routing-table/routing-table.ts';
import { cookieValues } from './cookies.ts';
import { KnownAffinity, type Belonging } from './known-affinity.ts';
import { SessionSuffixes } from './session-suffixes.ts';

const COOKIE_BYTES = 16;
/** As many are tried on average as the route has versions. */
const MAX_TRIES = 1000;
const COOKIE_VALUE = /^[A-Za-z0-9_-]{22}$/;

/** Finds out where requests belong. */
export class Affinities {
  readonly #suffixes: SessionSuffixes;
  readonly #random: RandomSource;

  constructor(masterKeys: readonly MasterKey[], random: RandomSource) {
    this.#suffixes = new SessionSuffixes(masterKeys);
    this.#random = random;
  }

  /**
   * Where a request belongs.
   *
   * @param versions those to which it may go
   * @param suits whether a new cookie may have this value
   * @throws GatewayError `session_not_found`, or `invalid_request` if it names two sessions
   */
  of(
    ctx: RequestContext,
    policy: CompiledAffinity,
    versions: readonly CompiledVersion[],
    suits: (value: string) => boolean,
  ): RequestAffinity {
    const belonging = this.#belonging(ctx, policy, versions, suits);
    return new KnownAffinity(policy, belonging, this.#suffixes);
  }

  #belonging(
    ctx: RequestContext,
    { by, name }: CompiledAffinity,
    versions: readonly CompiledVersion[],
    suits: (value: string) => boolean,
  ): Belonging {
    switch (by) {
      case 'token':
        return { caller: ctx.principal ?? addressGroup(ctx.clientIp) };
      case 'ip':
        return { caller: addressGroup(ctx.clientIp) };
      case 'header': {
        const caller = headerValue(ctx, name);
        return caller === undefined ? {} : { caller };
      }
      case 'gateway_cookie':
        return this.#ofCookie(ctx, name, suits);
      case 'upstream_cookie':
        return this.#ofSession(cookieValues(ctx.inbound.raw, name), versions, name, true);
      case 'upstream_header': {
        const sent = headerValue(ctx, name);
        return sent === undefined ? {} : this.#ofSession([sent], versions, name, false);
      }
    }
  }

  #ofCookie(ctx: RequestContext, name: string, suits: (value: string) => boolean): Belonging {
    const known = cookieValues(ctx.inbound.raw, name).find((value) => COOKIE_VALUE.test(value));
    if (known !== undefined) return { caller: known };
    let caller = this.#newValue();
    for (let tries = 1; tries < MAX_TRIES && !suits(caller); tries += 1) caller = this.#newValue();
    return { caller, newCookie: `${name}=${caller}; ${attributesOf(ctx)}` };
  }

  #newValue(): string {
    const bytes = Buffer.alloc(COOKIE_BYTES);
    this.#random(bytes);
    return bytes.toString('base64url');
  }

  /**
   * @param sent the ids that the request has; the first one counts that has a suffix of a known upstream
   * @param isCookie whether an id of an ended session is left out, because browsers would send it again and again
   */
  #ofSession(
    sent: readonly string[],
    versions: readonly CompiledVersion[],
    name: string,
    isCookie: boolean,
  ): Belonging {
    const services = versions.map(({ service }) => service);
    const ids = new Map<string, string | undefined>();
    let caller: string | undefined;
    let upstream: Belonging['upstream'];
    let isChanged = false;
    for (const one of sent) {
      if (upstream !== undefined) {
        if (this.#suffixes.isSigned(one) && !ids.has(one)) ids.set(one, undefined);
        continue;
      }
      const session = this.#suffixes.read(one, services);
      if (session.kind === 'changed') {
        isChanged = true;
        ids.set(one, undefined);
      } else if (session.kind === 'known') {
        ({ upstream } = session);
        ids.set(one, session.id);
      } else if (session.kind === 'unsigned') caller ??= one === '' ? undefined : one;
      else if (isCookie) ids.set(one, undefined);
      else throw unknownSession(name, 'names no upstream of the service, so the session has ended');
    }
    if (upstream !== undefined) return { upstream, ids };
    // Beside a session that is known, it is a cookie that another site of the domain may have set.
    if (isChanged) throw unknownSession(name, 'is not as the gateway gave it out');
    return caller === undefined ? { ids } : { caller, ids };
  }
}

function unknownSession(name: string, message: string): GatewayError {
  return new GatewayError('session_not_found', `There is no such session: ${name} ${message}.`, {
    details: [{ path: name, message }],
  });
}

/** The value of the header; equal ones count as one. */
function headerValue(ctx: RequestContext, name: string): string | undefined {
  let found: string | undefined;
  eachField(ctx.inbound.raw, (rawName, value) => {
    if (rawName.length !== name.length || rawName.toLowerCase() !== name) return;
    if (found !== undefined && found !== value) throw refuseField(name, 'must be sent once');
    found = value;
  });
  return found === '' ? undefined : found;
}

/** A browser sends the cookie on all ways to the route. Over TLS it also does so from pages of other sites. */
function attributesOf(ctx: RequestContext): string {
  const { target, inbound, fromTrustedProxy, protocol } = ctx;
  const path = callerPrefix(target) || '/';
  const forwarded = fromTrustedProxy ? inbound.forwardedProto : undefined;
  const isSecure = /^\s*https\s*(?:,|$)/i.test(forwarded ?? protocol);
  return `Path=${path}; HttpOnly; ${isSecure ? 'Secure; SameSite=None' : 'SameSite=Lax'}`;
}
