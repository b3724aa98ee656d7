import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { announcedLength } from '@gateway/http/message/framing';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';
import type { KeyResult } from '../request/key-results.ts';
import { inProgress, refusedKey, unavailable } from './idempotency-refusals.ts';
import { fingerprintOf, keyDigest } from './idempotency-scope.ts';
import { messageSizes } from '../request/message-sizes.ts';
import type { BodyBudget, TakenBody } from '../request/request-body.ts';
import { endToEndFields, keptTrailers } from '../request/end-to-end-fields.ts';
import { storedFields } from '../request/response-locations.ts';
import type { Reply, Stage } from '../request/stage.ts';
import type { HeldKey } from './claim.ts';
import type { ClaimedAfter } from './decide-key.ts';
import type { IdempotencyKeys, KeyOutcome } from './keys.ts';
import { StoreUnavailableError } from './store/idempotency-store.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';
import { keyRequired, parseIdempotencyKey, passKeyOn, type CountKey } from './key-field.ts';
import { ClientLeftError } from '../request/client-left-error.ts';
import { CapturedResponse } from './captured-response.ts';
import { replayedResponse } from './replayed-response.ts';

export interface IdempotencyOptions {
  readonly keys: IdempotencyKeys;
  readonly clock: Clock;
  readonly budget: BodyBudget;
  /** The largest body of a request with a key; it is kept in memory. */
  readonly maxRequestBodyBytes: number;
  /** How long the rest of a response is read after its caller has left, ms. */
  readonly unattendedTimeoutMs: number;
  readonly count: CountKey;
  /** Counts bytes of responses that were not kept. */
  readonly dropped: (bytes: number) => void;
}

const TOO_MANY_REQUESTS = 429;

/** The largest response body that is stored for replays. */
export const MAX_STORED_BODY_BYTES = 1024 * 1024;

/**
 * Lets a request with an `Idempotency-Key` run once: the first one claims the key and is forwarded, duplicates get its
 * response. A route may leave keys to its upstream instead. Runs after the quota, because replays spend quota too, and
 * directly before forwarding, because a claimed request counts as sent.
 */
export function createIdempotency(options: IdempotencyOptions): Stage {
  return (ctx) => {
    const { route } = ctx;
    if (route === undefined) return undefined;
    if (route.idempotency.mode === 'off') {
      passKeyOn(ctx, route, options.count);
      return undefined;
    }
    const field = ctx.inbound.idempotencyKey;
    if (field !== undefined) return guard(ctx, route, parseIdempotencyKey(field), options);
    if (route.idempotency.required) throw keyRequired(route);
    return undefined;
  };
}

async function guard(
  ctx: RequestContext,
  route: CompiledRoute,
  key: string,
  options: IdempotencyOptions,
): Promise<Reply | undefined> {
  const body = await readWholeBody(ctx, route, options);
  ctx.takenBody = body;
  const request = {
    name: keyDigest(ctx, ctx.principal ?? '', key),
    owner: route.quota,
    fingerprint: fingerprintOf(ctx, body.bytes),
    requestId: ctx.id,
    onUnknown: route.idempotency.onUnknown,
    deadlineMs: ctx.deadlineMs,
    hasLeft: () => ctx.clientGone,
    whenLeft: (listener: (() => void) | undefined) =>
      ctx.whenClientGone(listener === undefined ? undefined : { cancel: listener }),
  };
  const note = (result: KeyResult) => {
    ctx.idempotency = result;
    options.count(result);
  };
  const { clock } = options;
  let outcome: KeyOutcome<HeldKey>;
  ctx.times.enter('key', clock.monotonicMs());
  try {
    outcome = await options.keys.begin(request);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    note('unavailable');
    throw unavailable(error);
  } finally {
    ctx.times.enter('gateway', clock.monotonicMs());
  }
  return useOutcome(ctx, route, outcome, note, options);
}

const RUN_RESULTS = {
  nothing: 'first',
  expiry: 'first',
  repeatable: 'repeated',
  unknown: 'forwarded',
} as const satisfies Record<ClaimedAfter, KeyResult>;

function useOutcome(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: KeyOutcome<HeldKey>,
  note: (result: KeyResult) => void,
  options: IdempotencyOptions,
): Reply | undefined {
  switch (outcome.kind) {
    case 'run':
      note(RUN_RESULTS[outcome.after]);
      run(ctx, route, outcome.claim, options);
      return undefined;
    case 'replay': {
      const { response, firstId } = outcome;
      if (response.body === undefined) {
        note('not_replayable');
        throw refusedKey('too_large', firstId, response.status, MAX_STORED_BODY_BYTES);
      }
      note('replayed');
      return replayedResponse(ctx, response, response.body);
    }
    case 'refuse':
      note(outcome.why === 'response_unreadable' ? 'not_replayable' : outcome.why);
      throw refusedKey(outcome.why, outcome.firstId);
    case 'in_progress':
      note('in_progress');
      throw inProgress(outcome.firstId);
    case 'left':
      throw new ClientLeftError();
  }
}

/** From here on the request holds the key, and every way in which it ends calls the claim. */
function run(
  ctx: RequestContext,
  route: CompiledRoute,
  claim: HeldKey,
  options: IdempotencyOptions,
): void {
  const { repeatableStatuses } = route.idempotency;
  let captured: CapturedResponse | undefined;
  ctx.onFinish(() => {
    // A response that was not passed on is still read.
    if (captured !== undefined) captured.cancel();
    else if (hadNoEffect(ctx, repeatableStatuses)) claim.unsent();
    else claim.outcomeUnknown();
  });
  if (ctx.clientGone) throw new ClientLeftError();
  ctx.holdsKey = () => claim.held;
  ctx.capture = (response, sink) => {
    const complete = (body: Buffer | undefined, isRepeatable: boolean, raw?: HeaderFields) => {
      const { status, statusText } = response;
      const fields = storedFields(endToEndFields(response.fields), ctx);
      const trailers = raw && keptTrailers(response, raw, ctx);
      claim.completed({ status, statusText, fields, body, trailers }, isRepeatable);
    };
    const passing = new CapturedResponse(response, sink, {
      clock: options.clock,
      budget: options.budget,
      maxBodyBytes: MAX_STORED_BODY_BYTES,
      unattendedTimeoutMs: options.unattendedTimeoutMs,
      dropped: options.dropped,
      broken() {
        // The status alone says so.
        if (hadNoEffect(ctx, repeatableStatuses)) complete(undefined, true);
        else claim.outcomeUnknown();
      },
      complete(body, trailers) {
        complete(body, hadNoEffect(ctx, repeatableStatuses, body?.length === 0), trailers);
      },
    });
    captured = passing;
    void claim.over.then(() => passing.release());
    return passing;
  };
}

/**
 * Whether the run certainly had no effect: each attempt was not sent, or was answered with one of these statuses.
 *
 * @param isBodiless whether the response came without a byte of a body
 */
function hadNoEffect(
  ctx: RequestContext,
  statuses: readonly number[],
  isBodiless = false,
): boolean {
  if (ctx.sentWithoutAnswer) return false;
  return ctx.attempts.every(
    ({ status, grpc_status: grpcStatus }) =>
      status === undefined || statuses.includes(saidInHttp(status, isBodiless && grpcStatus)),
  );
}

/** RESOURCE_EXHAUSTED without a message says of a gRPC call what 429 says of a request. */
function saidInHttp(status: number, grpcStatus: number | false | undefined): number {
  return grpcStatus === GRPC_STATUS.RESOURCE_EXHAUSTED ? TOO_MANY_REQUESTS : status;
}

/** Reads the whole body. It is a part of the fingerprint, which is needed before anything is sent. */
async function readWholeBody(
  ctx: RequestContext,
  route: CompiledRoute,
  options: IdempotencyOptions,
): Promise<TakenBody & { kind: 'kept' }> {
  const { settings: upload } = route;
  const maxBytes = upload.max_body_bytes;
  const messages = messageSizes(ctx, upload);
  const routeBytes = messages === undefined ? maxBytes : Infinity;
  const keepBytes = Math.min(routeBytes, options.maxRequestBodyBytes);
  const taken = await ctx.body.take({ maxBytes, messages, keepBytes, request: ctx, upload });
  if (taken.kind === 'kept') return taken;
  if (Math.max(announcedLength(ctx.framing) ?? 0, ctx.body.receivedBytes) > keepBytes) {
    throw new GatewayError(
      'payload_too_large',
      `The body of a request with an idempotency key must be at most ${keepBytes} bytes.`,
    );
  }
  throw new GatewayError('gateway_overloaded', 'Too many request bodies are held in memory.', {
    headers: { 'retry-after': '1' },
  });
}
