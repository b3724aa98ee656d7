import { bytesText, cpuText, msText } from '@gateway/client/measures';
import type { DataPlane } from '../../api/client.ts';

type Plane = Pick<
  DataPlane,
  | 'gateway_version'
  | 'process_cpu_ratio'
  | 'process_resident_memory_bytes'
  | 'memory_limit_bytes'
  | 'event_loop_delay_ms'
>;

/** A figure of a process, for people. */
export interface Use {
  /** undefined: it is not known, and the note says why. */
  readonly text: string | undefined;
  readonly note: string;
  /** Whether somebody should look. */
  readonly isHigh: boolean;
}

/** One thread handles all requests, so the process has little left. */
const HIGH_CPU = 0.9;
/** The limit ends the process. */
const HIGH_MEMORY = 0.9;
/** The alert on the event loop begins here. */
const HIGH_DELAY_MS = 250;

/** The CPU time that a data plane uses. */
export function cpuUse(plane: Plane): Use {
  const { process_cpu_ratio: ratio } = plane;
  if (ratio === null) return unknown(plane);
  const isHigh = ratio >= HIGH_CPU;
  return {
    text: cpuText(ratio),
    note: isHigh ? 'little is left of its core' : 'of one core',
    isHigh,
  };
}

/** The memory that a data plane uses, and the limit that it shares with the other processes of its container. */
export function memoryUse(plane: Plane): Use {
  const { process_resident_memory_bytes: bytes, memory_limit_bytes: limit } = plane;
  if (bytes === null) return unknown(plane);
  const text = bytesText(bytes);
  if (limit === null) return { text, note: 'without a limit', isHigh: false };
  const isHigh = bytes / limit >= HIGH_MEMORY;
  const note = `of ${bytesText(limit)} for its container`;
  return { text, note: isHigh ? `${note}: nearly all` : note, isHigh };
}

/** How late the event loop of a data plane was. */
export function eventLoopDelay(plane: Plane): Use {
  const { event_loop_delay_ms: ms } = plane;
  if (ms === null) return unknown(plane);
  const isHigh = ms >= HIGH_DELAY_MS;
  return {
    text: msText(ms),
    note: isHigh ? 'requests waited as long' : 'the longest in 2 s',
    isHigh,
  };
}

function unknown({ gateway_version: version, process_resident_memory_bytes: bytes }: Plane): Use {
  const known = version === null ? 'its release' : `release ${version}`;
  const note = bytes === null ? `not reported by ${known}` : 'not measured yet';
  return { text: undefined, note, isHigh: false };
}
