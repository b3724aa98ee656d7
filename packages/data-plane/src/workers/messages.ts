import { z } from 'zod';

/** Messages from the primary to a worker, over the channel of `child_process`. */
export const toWorkerSchema = z.discriminatedUnion('kind', [
  /** Drain and exit, as after SIGTERM. */
  z.object({ kind: z.literal('stop') }),
  /** Read the certificate files again, as after SIGHUP. */
  z.object({ kind: z.literal('reload') }),
  /** Answer with `alive`. */
  z.object({ kind: z.literal('ping') }),
  z.object({ kind: z.literal('ask'), id: z.int(), what: z.enum(['readiness', 'metrics']) }),
  /** Comes with the socket of a connection; answer with `assigned`. */
  z.object({ kind: z.literal('connection'), id: z.int() }),
  /**
   * Follows a `connection` without an answer. A worker without a free file descriptor never receives the `connection`
   * itself, so this message asks whether it was received.
   */
  z.object({ kind: z.literal('connection_check'), id: z.int() }),
]);

const readinessSchema = z.object({
  notReady: z.array(z.string()),
  degraded: z.array(z.string()),
});

/**
 * The result of an assignment: the worker serves the connection, does not accept connections any more, or did not receive
 * the socket.
 */
const assignmentSchema = z.enum(['accepted', 'declined', 'not_received']);

/** Messages from a worker to the primary. */
export const toPrimarySchema = z.discriminatedUnion('kind', [
  /** The worker accepts connections. */
  z.object({ kind: z.literal('serving') }),
  /** The worker accepts no more connections and exits when those it has are done. */
  z.object({ kind: z.literal('leaving') }),
  /** The start of the worker failed; it exits. */
  z.object({ kind: z.literal('failed'), reason: z.string() }),
  /** The event loop of the worker has processed a `ping`. */
  z.object({ kind: z.literal('alive') }),
  z.object({ kind: z.literal('readiness'), id: z.int(), readiness: readinessSchema }),
  /** In the text format of Prometheus. */
  z.object({ kind: z.literal('metrics'), id: z.int(), text: z.string() }),
  z.object({ kind: z.literal('assigned'), id: z.int(), result: assignmentSchema }),
]);

export type ToWorker = z.output<typeof toWorkerSchema>;
export type ToPrimary = z.output<typeof toPrimarySchema>;
export type Readiness = Readonly<z.output<typeof readinessSchema>>;
export type Assignment = z.output<typeof assignmentSchema>;
