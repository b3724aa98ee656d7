import type { ProcessUse } from '@gateway/shared/heartbeats/process-use';
import { z } from 'zod';

const UNREPORTED = 'null: it does not report it, as releases up to 0.2 do not';

/** What the process of a data plane uses, in a response. Bounds are those of heartbeats. */
export const processUseView = {
  process_cpu_ratio: z
    .number()
    .nullable()
    .meta({
      description:
        'The CPU seconds per second that its process used, at its last heartbeat; 1 is one core. It is the rate of the ' +
        `metric \`process_cpu_seconds_total\`, since the heartbeat before. ${UNREPORTED}, or has just started.`,
      examples: [0.42],
    }),
  process_resident_memory_bytes: z
    .int()
    .nullable()
    .meta({
      description:
        'The resident memory of its process in bytes, at its last heartbeat, as in the metric of this name. ' +
        `${UNREPORTED}.`,
      examples: [222_298_112],
    }),
  memory_limit_bytes: z
    .int()
    .nullable()
    .meta({
      description:
        'The memory limit of its container (cgroup) in bytes. All processes in the container share it, such as the other ' +
        'workers of a group. null: it has no limit, or does not report it.',
      examples: [536_870_912],
    }),
  event_loop_delay_ms: z
    .int()
    .nullable()
    .meta({
      description:
        'The longest delay of its event loop in milliseconds, since the heartbeat before. A delay of 100 ms or more is ' +
        'always seen; up to 10 ms are those of its timers. ' +
        `${UNREPORTED}, or has just started.`,
      examples: [6],
    }),
} satisfies Record<keyof ProcessUse, z.ZodType>;
