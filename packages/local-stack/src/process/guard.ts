import { spawn } from 'node:child_process';

const script = `
read -r released && exit 0
kill -INT "$1" 2>/dev/null || exit 0
n=0
while [ $n -lt 50 ] && kill -0 "$1" 2>/dev/null; do sleep 0.1; n=$((n + 1)); done
kill -KILL "$1" 2>/dev/null
exit 0
`;

/**
 * Stops a process that we started even when we are killed without a chance to do so: a shell in a
 * session of its own reads a pipe from us, and the pipe's end without a word is our end. SIGINT
 * asks the process to stop (for Postgres it means a fast shutdown); SIGKILL follows after 5 s.
 *
 * The returned function takes the guard back. It must be called as soon as the process has ended,
 * so that the guard never aims at a pid that was given to another.
 */
export function guardProcess(pid: number): () => void {
  const guard = spawn('/bin/sh', ['-c', script, 'gateway-guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell there is no guard; an orderly stop does not need one.
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return () => {
    if (guard.stdin.writable) guard.stdin.end('released\n');
  };
}
