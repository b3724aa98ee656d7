import { z } from 'zod';

/** The most cores that a process can be reported to use. */
const MAX_CPU_RATIO = 4096;
/** The most memory that can be reported, bytes: 1 PiB. */
const MAX_MEMORY_BYTES = 2 ** 50;
/** The longest delay of the event loop that can be reported, ms: a day. */
const MAX_EVENT_LOOP_DELAY_MS = 86_400_000;

/**
 * What a process uses, by the names of its metrics. null: not known, or the data plane is of a release that does not
 * report it. A value out of bounds counts as not known: a wrong figure must not make a live data plane seem dead.
 */
export const processUseSchema = z.object({
  /** CPU seconds per second since the heartbeat before: 1 is one core. `rate(process_cpu_seconds_total)` is the same. */
  process_cpu_ratio: z.number().min(0).max(MAX_CPU_RATIO).nullable().catch(null),
  process_resident_memory_bytes: z.int().min(0).max(MAX_MEMORY_BYTES).nullable().catch(null),
  /** Of the cgroup, such as that of a container, which all of its processes share. null: also if there is none. */
  memory_limit_bytes: z.int().min(1).max(MAX_MEMORY_BYTES).nullable().catch(null),
  /** The longest delay of the event loop since the heartbeat before; see `gateway_event_loop_delay_seconds`. */
  event_loop_delay_ms: z.int().min(0).max(MAX_EVENT_LOOP_DELAY_MS).nullable().catch(null),
});

export type ProcessUse = z.infer<typeof processUseSchema>;
