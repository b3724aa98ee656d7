import type { Explanation } from '@gateway/shared/explain/explanation';
import { whyNever } from '../mirror/mirrors.ts';
import type { RequestContext } from '../request/context.ts';
import type { CompiledMirror } from '../routing-table/compile-mirror.ts';
import type { CompiledService } from '../routing-table/routing-table.ts';

/** Whether the mirror of the route would get a copy of a request that is forwarded. */
export function explainMirror(ctx: RequestContext): Explanation['mirror'] {
  const mirror = ctx.route?.mirror;
  if (mirror === undefined) return null;
  const never = whyNever(ctx, mirror);
  return {
    service_id: mirror.serviceId,
    service: mirror.service?.name ?? null,
    percent: mirror.percent,
    copied: never === undefined,
    reason: reasonOf(never, mirror),
  };
}

function reasonOf(
  never: ReturnType<typeof whyNever>,
  { percent, maxBodyBytes }: CompiledMirror<CompiledService>,
): string {
  switch (never) {
    case 'service':
      return 'No copy is made: this data plane cannot use the service or its credential.';
    case 'body_too_large':
      return `No copy is made: the body is longer than mirror.max_body_bytes, ${maxBodyBytes} bytes.`;
    case undefined:
      return percent === 100
        ? 'Every request is copied, unless the data plane or the service is busy.'
        : `${percent} % of the requests are copied, unless the data plane or the service is busy.`;
  }
}
