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
/** Growth below this proves nothing, so no sample waits on it. */
const WORTH_A_WAIT_BYTES = 8 * 1024 * 1024;
const SWEEP_STEP_MS = 10;
const MAX_SWEEP_STEPS = 25;

/**
 * Samples the memory of the process until it is asked. What is dead is collected before each sample:
 * how long V8 lets it lie depends on the machine, not on what is tested. V8 frees the buffers it found
 * dead on a thread of its own, which a busy machine lets wait; so a sample that would be the highest yet
 * holds this thread, and with it all that could make new buffers, while that thread gets to it.
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
