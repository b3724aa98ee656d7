import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { announcedLength } from '@gateway/http/message/framing';
import type { Clock } from '@gateway/shared/clock';
import { HEADER } from '@gateway/shared/http/headers';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { AdaptiveLimits } from '../limits/adaptive/adaptive-limits.ts';
import type { Bulkheads } from '../limits/bulkheads.ts';
import type { ContextOptions, RequestContext } from '../request/context.ts';
import { addedFields, attemptFields, passedFields } from '../request/outbound-headers.ts';
import { takesTrailers } from '../request/trailers.ts';
import { upstreamPath } from '../request/proxy-path.ts';
import type { CompiledMirror } from '../routing-table/compile-mirror.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import type { CopyMaker } from '../upstream/forward-stage.ts';
import type { ServiceBalancers } from '../upstream/health/service-balancer.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { copyContext } from './copy-context.ts';
import type { MirrorDrop, MirrorMetrics } from './mirror-metrics.ts';
import {
  BoundedCollector,
  MirroredBody,
  type BodyCopier,
  type CopyMemory,
} from './mirrored-body.ts';
import { isWithinHalf, MirroredRequest, type MirrorResult } from './mirrored-request.ts';

export interface MirrorOptions {
  readonly context: ContextOptions;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly upstreams: UpstreamClient;
  readonly balancers: ServiceBalancers;
  readonly adaptiveLimits: Pick<AdaptiveLimits, 'of'>;
  /** Those of requests. Copies count to the slots of their own service and no others. */
  readonly bulkheads: Pick<Bulkheads, 'loadOf' | 'maxOf'>;
  /** Whether this data plane has so many requests that copies would be in the way. */
  readonly isBusy: () => boolean;
  readonly memory: CopyMemory;
  /** The most copies at one time, those whose bodies still arrive included. */
  readonly maxCopies: number;
  readonly metrics: Pick<MirrorMetrics, 'ended' | 'dropped'>;
  /** Takes the context of a copy that is over, and the id of its original. */
  readonly finished: (copy: RequestContext, originalId: string) => void;
  readonly log: Logger;
}

/** Makes the copies of requests for the mirrors of their routes. No method throws, or waits for anything. */
export class Mirrors implements CopyMaker {
  readonly #options: MirrorOptions;
  readonly #underWay = new Set<MirroredRequest>();
  /** Copies under way, and those that wait for a body. */
  #places = 0;
  #isStopped = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  begin(ctx: RequestContext, route: CompiledRoute, mirror: CompiledMirror<CompiledService>): void {
    const { random, maxCopies, metrics } = this.#options;
    if (!isSampled(mirror.percent, random)) return;
    try {
      const { service } = mirror;
      const refused = this.#places >= maxCopies ? 'in_flight' : this.#refusal(ctx, mirror);
      if (refused !== undefined) metrics.dropped(route, refused);
      else if (service !== undefined) this.#copy(ctx, { route, mirror, service });
    } catch (error) {
      this.#report(error);
    }
  }

  leavesHttp(route: CompiledRoute): void {
    this.#options.metrics.dropped(route, 'upgrade');
  }

  /** Ends all copies at once, and makes no further ones. */
  stop(): void {
    this.#isStopped = true;
    for (const copy of this.#underWay) copy.cutOff();
  }

  /** The number of copies under way. */
  get count(): number {
    return this.#underWay.size;
  }

  #refusal(ctx: RequestContext, mirror: CompiledMirror<CompiledService>): MirrorDrop | undefined {
    if (this.#isStopped) return 'stopping';
    const lasting = whyNever(ctx, mirror);
    if (lasting !== undefined) return lasting;
    const { service } = mirror;
    if (service === undefined) return 'service';
    return this.#isOverloaded(ctx, service) ? 'overload' : undefined;
  }

  #isOverloaded({ table }: RequestContext, service: CompiledService): boolean {
    const { isBusy, adaptiveLimits, bulkheads } = this.#options;
    if (isBusy() || adaptiveLimits.of(service.id)?.isReached === true) return true;
    return !isWithinHalf(bulkheads.loadOf(service.id).count, bulkheads.maxOf(service, table));
  }

  #copy(ctx: RequestContext, to: CopyTarget): void {
    const { takenBody, body } = ctx;
    const copier = this.#copier(ctx, to);
    this.#places += 1;
    if (takenBody?.kind === 'kept') copier.kept(takenBody.bytes);
    else if (body.empty) copier.kept(null);
    else ctx.body = new MirroredBody(body, copier);
  }

  #copier(ctx: RequestContext, to: CopyTarget): BodyCopier {
    const { memory } = this.#options;
    const send = (bytes: BodyBytes | null) => {
      // Of a body that streams: its response may end before the next turn.
      if (ctx.upstream !== undefined) ctx.applied('mirror');
      // The request itself is sent first.
      setImmediate(() => this.#send(ctx, to, bytes));
    };
    const drop = (why: MirrorDrop) => {
      this.#places -= 1;
      this.#options.metrics.dropped(to.route, why);
    };
    return {
      kept(bytes) {
        const size = bytes?.length ?? 0;
        if (size > to.mirror.maxBodyBytes) drop('body_too_large');
        else if (!memory.reserve(size)) drop('body_memory');
        else send(bytes);
      },
      collector: () => new BoundedCollector(to.mirror.maxBodyBytes, memory, send, drop),
      unused: () => {
        this.#places -= 1;
      },
    };
  }

  /** @param bytes for which memory is reserved */
  #send(ctx: RequestContext, to: CopyTarget, bytes: BodyBytes | null): void {
    const { memory, metrics } = this.#options;
    const size = bytes?.length ?? 0;
    const giveBack = () => {
      this.#places -= 1;
      memory.release(size);
    };
    // It was refused, or its caller left, before it was sent.
    if (ctx.upstream === undefined) {
      giveBack();
      return;
    }
    const drop = (why: MirrorDrop) => {
      giveBack();
      metrics.dropped(to.route, why);
    };
    if (this.#isStopped) {
      drop('stopping');
      return;
    }
    let copy: MirroredRequest;
    try {
      // Others were sent since this one was begun, the more the longer its body took.
      if (this.#isOverloaded(ctx, to.service)) {
        drop('overload');
        return;
      }
      copy = this.#makeCopy(ctx, to, size, (result) => {
        this.#underWay.delete(copy);
        load.release();
        giveBack();
        this.#ended(copy, ctx.id, to.route, result);
      });
      if (!copy.choose()) {
        drop('overload');
        return;
      }
      ctx.applied('mirror');
    } catch (error) {
      giveBack();
      this.#report(error);
      return;
    }
    const load = this.#options.bulkheads.loadOf(to.service.id);
    load.take();
    this.#underWay.add(copy);
    const nowMs = this.#options.clock.monotonicMs();
    const requestTo = (basePath: string) => requestOf(copy.ctx, ctx.id, basePath, bytes, nowMs);
    try {
      copy.send(requestTo, to.route.settings.timeout_ms);
    } catch (error) {
      this.#report(error);
      copy.abandon();
    }
  }

  #ended(
    copy: MirroredRequest,
    originalId: string,
    route: CompiledRoute,
    result: MirrorResult,
  ): void {
    try {
      this.#options.metrics.ended(route, result, copy.waitedMs);
      this.#options.finished(copy.ctx, originalId);
    } catch (error) {
      this.#report(error);
    }
  }

  #makeCopy(
    ctx: RequestContext,
    { mirror, service }: CopyTarget,
    bodyBytes: number,
    over: (result: MirrorResult) => void,
  ): MirroredRequest {
    const { context, balancers } = this.#options;
    const copied = copyContext(ctx, mirror, service, bodyBytes, context);
    return new MirroredRequest(copied, balancers.of(service), this.#options, over);
  }

  #report(error: unknown): void {
    this.#options.log.error({ err: error }, 'copy of a request failed unexpectedly');
  }
}

/** Why no request like this is copied, whatever the load is. */
export function whyNever(
  { framing }: Pick<RequestContext, 'framing'>,
  { service, maxBodyBytes }: CompiledMirror<CompiledService>,
): 'service' | 'body_too_large' | undefined {
  if (service === undefined || service.credential?.usable === false) return 'service';
  return (announcedLength(framing) ?? 0) > maxBodyBytes ? 'body_too_large' : undefined;
}

/** Whether a request is one of those that are copied. */
export function isSampled(percent: number, random: () => number): boolean {
  return random() * 100 < percent;
}

/** Whose copies go where. */
interface CopyTarget {
  readonly route: CompiledRoute;
  readonly mirror: CompiledMirror<CompiledService>;
  readonly service: CompiledService;
}

function requestOf(
  copy: RequestContext,
  originalId: string,
  basePath: string,
  bytes: BodyBytes | null,
  nowMs: number,
) {
  const { method, target, rewritten, framing } = copy;
  return {
    method,
    path: upstreamPath(basePath, rewritten ?? target),
    host: rewritten?.host,
    fields: attemptFields(copy, addedFields(copy), nowMs).concat(HEADER.mirror, originalId),
    passed: passedFields(copy),
    body: bytes,
    contentLength: announcedLength(framing),
    takesTrailers: takesTrailers(copy),
  };
}
