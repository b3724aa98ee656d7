import type { GatewayClient } from '@gateway/client';
import { expect, it } from '@jest/globals';
import { fakeTerminal } from '../test/fake-terminal.ts';
import { collectItems } from './lookup/collect-items.ts';
import { withProgress } from './terminal/progress.ts';
import { waitingClient } from './waiting-client.ts';

/** A client whose answers take `turns` of the event loop, and a terminal on which a second takes one. */
function slowClient(turns: number) {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const terminal = fakeTerminal({
    stderrColumns: 40,
    pause: async (_delayMs, signal) => {
      await turn();
      signal.throwIfAborted();
    },
  });
  const answer = async () => {
    for (let at = 0; at < turns; at += 1) await turn();
    return 'answer';
  };
  async function* list() {
    yield await answer();
    yield await answer();
  }
  const client: unknown = { get: answer, list };
  return { terminal, client: waitingClient(client as GatewayClient, terminal, 'Waiting') };
}

it('shows a spinner while a call is slow, and erases it', async () => {
  const { terminal, client } = slowClient(4);
  await expect(client.get('/v1/whoami')).resolves.toBe('answer');
  expect(terminal.written[0]).toBe('⠋ Waiting');
  expect(terminal.written.at(-1)).toBe('\r\u001b[J');
});

it('shows nothing for a quick call', async () => {
  const { terminal, client } = slowClient(0);
  await client.get('/v1/whoami');
  expect(terminal.written).toEqual([]);
});

it('shows one spinner for all pages of a list, and ends it if the reader stops early', async () => {
  const { terminal, client } = slowClient(4);
  await expect(collectItems(client.list('/v1/routes'))).resolves.toHaveLength(2);
  expect(terminal.written.filter((text) => text === '⠋ Waiting')).toHaveLength(1);
  await collectItems(client.list('/v1/routes'), 1);
  expect(terminal.written.at(-1)).toBe('\r\u001b[J');
});

it('shows nothing of its own while a command shows its progress', async () => {
  const { terminal, client } = slowClient(4);
  await withProgress(terminal, 'Applying', () => client.get('/v1/whoami'));
  expect(terminal.written.join('')).not.toContain('Waiting');
  expect(terminal.written[0]).toBe('⠋ Applying');
});
