import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { probePort } from '@gateway/shared/ports/probe-port';
import { errorCode } from '@gateway/tools/process/errors';
import { freePort } from '../process/free-port.ts';

/** Where the demo upstream listens: on the port of the previous run if it is free. */
export interface DemoAddress {
  readonly port: number;
  readonly url: string;
  readonly previousUrl: string | undefined;
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function keptPort(file: string): Promise<number | undefined> {
  try {
    const port = Number(await readFile(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Picks the port and stores it in the data folder. */
export async function pickDemoAddress(dataDir: string): Promise<DemoAddress> {
  const file = path.join(dataDir, 'demo-upstream-port');
  const kept = await keptPort(file);
  const port = kept === undefined ? await freePort() : await probePort(kept).catch(freePort);
  await writeFile(file, `${port}\n`);
  return { port, url: urlOf(port), previousUrl: kept === undefined ? undefined : urlOf(kept) };
}
