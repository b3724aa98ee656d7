import { z } from 'zod';

/** What the primary tells a worker, or asks it, over the channel between them. */
export const toWorkerSchema = z.discriminatedUnion('kind', [
  /** Drain and end, as at SIGTERM. */
  z.object({ kind: z.literal('stop') }),
  /** Read the certificate anew, as at SIGHUP. */
  z.object({ kind: z.literal('reload') }),
  /** To be answered with `alive`. */
  z.object({ kind: z.literal('ping') }),
  z.object({ kind: z.literal('ask'), id: z.int(), what: z.enum(['readiness', 'metrics']) }),
]);

const readinessSchema = z.object({
  notReady: z.array(z.string()),
  degraded: z.array(z.string()),
});

/** What a worker tells the primary. */
export const toPrimarySchema = z.discriminatedUnion('kind', [
  /** It takes connections. */
  z.object({ kind: z.literal('serving') }),
  /** It takes no more of them, and ends when those it has are done. */
  z.object({ kind: z.literal('leaving') }),
  /** Its start failed, for this reason; it ends. */
  z.object({ kind: z.literal('failed'), reason: z.string() }),
  /** Its event loop has come round to a `ping`. */
  z.object({ kind: z.literal('alive') }),
  z.object({ kind: z.literal('readiness'), id: z.int(), readiness: readinessSchema }),
  /** In the text format of Prometheus. */
  z.object({ kind: z.literal('metrics'), id: z.int(), text: z.string() }),
]);

export type ToWorker = z.output<typeof toWorkerSchema>;
export type ToPrimary = z.output<typeof toPrimarySchema>;
export type Readiness = Readonly<z.output<typeof readinessSchema>>;
