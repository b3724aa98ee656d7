export interface MemoryWatch {
  /** How far the memory of this process, its buffers included, was above where it began, at most. */
  growthBytes(): number;
}

const SAMPLE_MS = 20;

/** Samples the memory of the process until it is asked. */
export function watchMemory(): MemoryWatch {
  const before = process.memoryUsage();
  let residentBytes = 0;
  let bufferBytes = 0;
  const sample = () => {
    const now = process.memoryUsage();
    residentBytes = Math.max(residentBytes, now.rss - before.rss);
    bufferBytes = Math.max(bufferBytes, now.arrayBuffers - before.arrayBuffers);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    growthBytes() {
      clearInterval(timer);
      sample();
      return Math.max(residentBytes, bufferBytes);
    },
  };
}
