import type { RequestRecord } from '@gateway/shared/records/record';
import type { Tracing } from '@gateway/shared/opentelemetry/open-telemetry';
import type { RequestSlots } from '../limits/request-slots.ts';
import type { LocalParts } from '../parts.ts';
import type { ContextOptions, RequestContext } from '../request/context.ts';
import { buildRecord } from '../request/record.ts';
import { createBodyBudget, type BodyBudget } from '../request/request-body.ts';
import type { LiveNames } from '../telemetry/live-names.ts';
import type { Sweep } from '../telemetry/tables.ts';
import { requestSpans } from '../tracing/spans/request-spans.ts';
import { MirrorMetrics } from './mirror-metrics.ts';
import { Mirrors } from './mirrors.ts';

export interface OpenMirrorsOptions {
  readonly context: ContextOptions;
  readonly slots: Pick<RequestSlots, 'requests'>;
  /** That of requests. Copies have memory of their own, and take none of it while this is short. */
  readonly bodyBudget: BodyBudget;
}

export interface MirrorPorts {
  /** Takes the record of a copy. */
  readonly addRecord: (record: RequestRecord) => void;
  /** undefined: no request is sampled. */
  readonly tracing: Pick<Tracing, 'add'> | undefined;
}

export interface OpenMirrors {
  readonly mirrors: Mirrors;
  sweep(live: LiveNames): Sweep;
}

/** Opens what makes copies of requests. Nothing of it runs until a route has a mirror. */
export function openMirrors(
  parts: LocalParts,
  { addRecord, tracing }: MirrorPorts,
  { context, slots, bodyBudget }: OpenMirrorsOptions,
): OpenMirrors {
  const { config, clock, log, registry } = parts;
  const memory = createBodyBudget(config.MAX_MIRRORED_BODY_BYTES);
  const metrics: MirrorMetrics = new MirrorMetrics(registry, () => mirrors.count);
  const finished = (copy: RequestContext, originalId: string) => {
    copy.times.close(clock.monotonicMs());
    const { sampled } = copy.trace;
    const record = { ...buildRecord(copy, config.DATA_PLANE_ID), parent_id: originalId };
    addRecord(record);
    if (sampled !== undefined) tracing?.add(requestSpans(copy, record, sampled));
  };
  const mirrors: Mirrors = new Mirrors({
    context,
    clock,
    random: Math.random,
    upstreams: parts.upstreams,
    balancers: parts.health,
    adaptiveLimits: parts.adaptiveLimits,
    bulkheads: slots.requests,
    isBusy: () => slots.requests.count * 2 >= config.MAX_IN_FLIGHT_REQUESTS,
    memory: {
      reserve: (bytes) => bytes === 0 || (!bodyBudget.isShort && memory.reserve(bytes)),
      release: (bytes) => memory.release(bytes),
    },
    maxCopies: config.MAX_MIRRORED_REQUESTS,
    metrics,
    finished,
    log,
  });
  return { mirrors, sweep: (live) => metrics.sweep(live) };
}
