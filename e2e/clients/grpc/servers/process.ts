import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Ledger } from '../behaviour.ts';
import type { CallProgram } from '../programs.ts';
import { openRelay, type CallServer } from './server.ts';

/** A program that serves calls, behind a relay that counts its connections and ends them. */
export async function startProcessServer(program: CallProgram): Promise<CallServer> {
  const ledger = new Ledger();
  const { file, args, env } = program;
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const lines = createInterface(child.stdout);
  let port = 0;
  const started = Promise.withResolvers<undefined>();
  lines.on('line', (line) => {
    if (line === 'cancelled') ledger.count('cancelled');
    else if (line.startsWith('port ')) {
      port = Number(line.slice('port '.length));
      started.resolve(undefined);
    }
  });
  void ended.then(() => started.reject(new Error(`${file} has ended`)));
  await started.promise;
  const relay = await openRelay(() => port);
  return {
    ...relay,
    ledger,
    goAway: () => void child.kill('SIGUSR1'),
    async close() {
      child.kill('SIGKILL');
      await ended;
      await relay.close();
    },
  };
}
