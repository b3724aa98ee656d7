/** A thread that sends its parent a message each tick, between the messages `start` and `stop`. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

const tickMs = workerData as number;
const never = new Int32Array(new SharedArrayBuffer(4));

parentPort?.on('message', (message) => {
  if (message === 'start') tickUntilStopped();
});

function tickUntilStopped(): void {
  if (parentPort === null) return;
  for (let nextMs = performance.now(); ; nextMs += tickMs) {
    if (receiveMessageOnPort(parentPort) !== undefined) return;
    parentPort.postMessage(0);
    const waitMs = nextMs + tickMs - performance.now();
    if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs);
    else nextMs = performance.now() - tickMs;
  }
}
