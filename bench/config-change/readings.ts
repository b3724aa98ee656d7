import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { usageOf } from '../measure/process-tree.ts';
import type { readMetrics } from '../measure/prometheus.ts';

type Read = Awaited<ReturnType<typeof readMetrics>>;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

/** The samples of event loop delay since the start of a process, and those above 50 ms. */
export function countDelays(read: Read): { readonly delays: number; readonly longDelays: number } {
  const name = 'gateway_event_loop_delay_seconds';
  const delays = read(`${name}_count`);
  return { delays, longDelays: delays - read(`${name}_bucket{le="0.05"}`) };
}

/** The memory of a process now. */
export function memoryOf({ pid }: ServiceProcess, read: Read): string {
  const heapBytes = read('nodejs_heap_size_used_bytes');
  return `${megabytes(usageOf(pid).residentBytes)} resident, ${megabytes(heapBytes)} of heap used`;
}
