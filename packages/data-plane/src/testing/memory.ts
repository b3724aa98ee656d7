import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface MemoryGrowth {
  /** Of the process. */
  readonly residentBytes: number;
  /** Of buffers and objects that are still in use. */
  readonly liveBytes: number;
}

export interface MemoryWatch {
  /** How far memory was above where it began, at most. */
  growth(): MemoryGrowth;
}

const SAMPLE_MS = 300;
/**
 * Between two samples lies so many times what one took: after hundreds of suites there is much to look
 * through, and what is tested must not wait for that most of the time.
 */
const REST = 4;

/**
 * Samples the memory of the process until it is asked. What is dead is collected before each sample:
 * how long V8 lets it lie depends on the machine, not on what is tested.
 */
export function watchMemory(): MemoryWatch {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const read = () => {
    collect();
    const { rss, arrayBuffers, heapUsed } = process.memoryUsage();
    return { residentBytes: rss, liveBytes: arrayBuffers + heapUsed };
  };
  const before = read();
  const growth = { residentBytes: 0, liveBytes: 0 };
  const sample = () => {
    const now = read();
    growth.residentBytes = Math.max(growth.residentBytes, now.residentBytes - before.residentBytes);
    growth.liveBytes = Math.max(growth.liveBytes, now.liveBytes - before.liveBytes);
  };
  let timer: NodeJS.Timeout;
  const sampleLater = (delayMs: number) => {
    timer = setTimeout(() => {
      const startedMs = performance.now();
      sample();
      sampleLater(Math.max(SAMPLE_MS, (performance.now() - startedMs) * REST));
    }, delayMs);
  };
  sampleLater(SAMPLE_MS);
  return {
    growth() {
      clearTimeout(timer);
      sample();
      return growth;
    },
  };
}
