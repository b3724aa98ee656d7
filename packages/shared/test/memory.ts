import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface MemoryGrowth {
  /** Resident memory of the process. */
  readonly residentBytes: number;
  /** Memory of buffers and objects in use. */
  readonly liveBytes: number;
}

export interface MemoryWatch {
  /** The largest increase over the start. */
  growth(): MemoryGrowth;
}

const SAMPLE_MS = 300;
/**
 * The pause between two samples is this many times the duration of a sample. After hundreds of suites the heap is large, and the tested
 * code must not spend most of its time waiting for samples.
 */
const REST = 4;
/** Growth below this is not significant, so a sample does not wait because of it. */
const WORTH_A_WAIT_BYTES = 8 * 1024 * 1024;
const SWEEP_STEP_MS = 10;
const MAX_SWEEP_STEPS = 25;

/**
 * Samples the memory of the process until the result is read. Garbage is collected before each sample, because when V8 collects it
 * depends on the machine and not on the tested code. V8 frees dead buffers on another thread, which a busy machine may delay.
 * So a sample that would be a new maximum blocks this thread, and everything that could allocate, until that thread has run.
 */
export function watchMemory(): MemoryWatch {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const read = () => {
    const { rss, arrayBuffers, heapUsed } = process.memoryUsage();
    return { residentBytes: rss, liveBytes: arrayBuffers + heapUsed };
  };
  const never = new Int32Array(new SharedArrayBuffer(4));
  const readSwept = (knownBytes: number) => {
    collect();
    let now = read();
    for (let step = 0; now.liveBytes > knownBytes && step < MAX_SWEEP_STEPS; step += 1) {
      Atomics.wait(never, 0, 0, SWEEP_STEP_MS);
      now = read();
    }
    return now;
  };
  const before = readSwept(0);
  const growth = { residentBytes: 0, liveBytes: 0 };
  const sample = () => {
    const worthAWait = Math.max(growth.liveBytes, WORTH_A_WAIT_BYTES);
    const now = readSwept(before.liveBytes + worthAWait);
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
