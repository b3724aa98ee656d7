import type { Clock } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import type { Tracing } from '@gateway/shared/opentelemetry/open-telemetry';
import { httpSpanName, methodAttributes } from '@gateway/shared/opentelemetry/span';
import { SAMPLED, type ParentSpan } from '@gateway/shared/opentelemetry/traceparent';
import type { Request, Response } from 'express';
import { loggedPath } from './logged-path.ts';
import { exchangeOf } from './reply.ts';

/** The place of a sampled call in its trace. */
export interface CallTrace {
  readonly traceId: string;
  readonly parentSpanId: string | undefined;
}

/** Makes the span of each sampled management call. */
export interface CallTracing {
  /** @param parent the place of the caller in its trace. Returns undefined if the call is not sampled. */
  begin(parent: ParentSpan | undefined): CallTrace | undefined;
  /** @param arrivedAtMs milliseconds since the Unix epoch */
  end(trace: CallTrace, request: Request, response: Response, arrivedAtMs: number): void;
}

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

export function traceCalls(
  tracing: Pick<Tracing, 'sample' | 'add'>,
  random: RandomSource,
  clock: Pick<Clock, 'monotonicMs'>,
): CallTracing {
  const newId = (bytes: number) => {
    const id = Buffer.alloc(bytes);
    random(id);
    return id.toString('hex');
  };
  return {
    begin(parent) {
      const traceId = parent?.traceId ?? newId(TRACE_BYTES);
      const decided = parent === undefined ? undefined : (parent.flags & SAMPLED) !== 0;
      return tracing.sample(traceId, decided)
        ? { traceId, parentSpanId: parent?.spanId }
        : undefined;
    },
    end({ traceId, parentSpanId }, request, response, arrivedAtMs) {
      const { requestId, arrivedMs, pattern, tokenId, clientAddress } = exchangeOf(response);
      const status = response.writableFinished ? response.statusCode : undefined;
      const failed = status === undefined || status >= 500;
      const span = {
        name: httpSpanName(request.method, pattern),
        kind: 'server',
        traceId,
        spanId: newId(SPAN_BYTES),
        parentSpanId,
        startMs: arrivedAtMs,
        durationMs: clock.monotonicMs() - arrivedMs,
        failed,
        attributes: {
          ...methodAttributes(request.method),
          'http.route': pattern,
          'url.path': loggedPath(request),
          'url.scheme': request.protocol,
          'network.protocol.version': request.httpVersion,
          'http.response.status_code': status,
          'error.type': failed ? String(status ?? 'client_aborted') : undefined,
          'client.address': clientAddress,
          'gateway.request.id': requestId,
          'gateway.token.id': tokenId,
        },
      } as const;
      tracing.add([span]);
    },
  };
}
