import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { startNats } from './start-nats.ts';

async function request(url: string, subject: string, body: string): Promise<string> {
  const connection = await connect({ servers: url, reconnect: false });
  try {
    return (await connection.request(subject, body, { timeout: 2000 })).string();
  } finally {
    await connection.close();
  }
}

describe('startNats', () => {
  let dataDir: string;
  const log = (): void => undefined;

  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'gateway-nats-'));
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  it('keeps the data of JetStream over SIGKILL', async () => {
    const killed = await startNats({ dataDir, log });
    const stream = { name: 'kept', subjects: ['kept'], storage: 'file' };
    await request(killed.url, '$JS.API.STREAM.CREATE.kept', JSON.stringify(stream));
    await request(killed.url, 'kept', 'a message');
    await killed.process.stop('SIGKILL');
    const again = await startNats({ dataDir, log });
    try {
      expect(await request(again.url, '$JS.API.STREAM.INFO.kept', '')).toContain('"messages":1');
    } finally {
      await again.stop();
    }
  });

  it('reports in one line that its port is in use', async () => {
    const first = await startNats({ dataDir: path.join(dataDir, 'a'), log });
    try {
      const second = startNats({ dataDir: path.join(dataDir, 'b'), port: first.port, log });
      await expect(second).rejects.toThrow(/^nats .*address already in use/);
    } finally {
      await first.stop();
    }
  });
});
