import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bearerCredential } from '@gateway/shared/http/headers';
import { addressGroup } from '@gateway/shared/net/client-address';
import { hashTokenSecret, isTokenSecret } from '@gateway/shared/tokens/secret';
import type { Overloads } from '../limits/overloads.ts';
import { FairSlots } from '../limits/bulkheads.ts';
import type { RequestContext } from '../request/context.ts';
import { findToken, type Token } from '../routing-table/routing-table.ts';

/** The settings of the slots, by the names of their environment variables. */
export interface PassThroughSettings {
  /** Calls with a valid token that may be in flight. */
  readonly MAX_PASS_THROUGH_REQUESTS: number;
  /** Calls without one. */
  readonly MAX_UNAUTHENTICATED_REQUESTS: number;
}

/** Who makes a call: a token, shared fairly with other tokens, or nobody known. */
export type PassThroughCaller = 'authenticated' | 'unauthenticated';

/**
 * The slots of calls to the control plane. They are not those of the data path, so slow calls cannot hold those. Callers
 * without a valid token have slots of their own, so they cannot hold those of operators. Only the control plane decides
 * what a token may do; here it only separates callers.
 */
export class PassThroughSlots {
  readonly #slots: Readonly<Record<PassThroughCaller, FairSlots>>;

  readonly #overloads: Overloads;

  constructor(config: PassThroughSettings, overloads: Overloads) {
    this.#overloads = overloads;
    this.#slots = {
      authenticated: new FairSlots(config.MAX_PASS_THROUGH_REQUESTS),
      unauthenticated: new FairSlots(config.MAX_UNAUTHENTICATED_REQUESTS),
    };
  }

  /** Slots in use, by the reason with which a call without a slot is counted. */
  get gauges(): Readonly<Record<string, () => number>> {
    return {
      pass_through: () => this.#slots.authenticated.count,
      pass_through_unauthenticated: () => this.#slots.unauthenticated.count,
    };
  }

  /** Takes a slot until the call is over. Returns the refusal if there is none for this caller. */
  enter(ctx: RequestContext, token: Token | undefined): GatewayError | undefined {
    const slots = this.#slots[token === undefined ? 'unauthenticated' : 'authenticated'];
    const caller = slots.loadOf(token?.id ?? addressGroup(ctx.clientIp));
    if (!slots.hasRoomFor(caller)) return this.#noSlot(token);
    slots.take(caller);
    ctx.onFinish(caller.release);
    ctx.onFinish(slots.release);
    return undefined;
  }

  /** The refusal of a call if too many wait for a connection to the control plane. */
  queueFull(): GatewayError {
    return this.#overloads.refuseHere('pass_through', 'Too many calls wait for the control plane.');
  }

  #noSlot(token: Token | undefined): GatewayError {
    return token === undefined
      ? this.#overloads.refuseHere(
          'pass_through_unauthenticated',
          'Too many calls to the management API without a valid token are in flight.',
        )
      : this.#overloads.refuseHere(
          'pass_through',
          'Too many calls to the management API are in flight.',
        );
  }
}

/** The token of a call, if it is valid in the configuration that this data plane serves. */
export function tokenOfCall(ctx: RequestContext): Token | undefined {
  const secret = bearerCredential(ctx.inbound.authorization);
  if (secret === undefined || !isTokenSecret(secret)) return undefined;
  const token = findToken(ctx.table, hashTokenSecret(secret));
  return token !== undefined && ctx.receivedAtMs < token.expiresAtMs ? token : undefined;
}
