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
 * Stops a child process even if this process is killed. A shell in its own session reads a pipe from this process. If the pipe closes
 * without a line, this process has ended: the shell sends SIGINT (a fast shutdown for Postgres), and SIGKILL after 5 s.
 *
 * The returned function ends the guard. Call it as soon as the child has ended, so that the guard never signals another
 * process with the same pid.
 */
export function guardProcess(pid: number): () => void {
  const guard = spawn('/bin/sh', ['-c', script, 'gateway-guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell there is no guard. An orderly stop does not need it.
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return () => {
    if (guard.stdin.writable) guard.stdin.end('released\n');
  };
}
