import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess, type ManagedProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { ANSWER, answersRight } from '../load/answer.ts';
import { plainPeer, type Peer, type Site } from './peer.ts';

const READY_TIMEOUT_MS = 10_000;

/**
 * Starts a peer and resolves when it passed a request on. `command` gets the port to listen on;
 * the peer must run in the foreground.
 */
export async function startPeer(
  name: string,
  site: Site,
  command: (port: number) => Promise<readonly string[]>,
  env: NodeJS.ProcessEnv = {},
): Promise<Peer> {
  const port = await freePort();
  const line = [...site.launcher, ...(await command(port))];
  const [executable = '', ...args] = line;
  const started: ManagedProcess = await startProcess({
    name,
    command: executable,
    args,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      UPSTREAM_PORT: String(site.upstreamPort),
      ...env,
    },
    logFile: path.join(site.folder, `${name.replaceAll(/\W/g, '-')}.log`),
  });
  const peer = plainPeer(name, port, started);
  await waitUntilReady(started, {
    check: () => answersRight(peer.url, peer.authorization),
    timeoutMs: READY_TIMEOUT_MS,
    signal: site.signal,
  });
  return peer;
}

/** Fills the `@NAME@` places of a configuration and puts it into the run's folder. */
export async function fillConfig(file: string, site: Site, port: number): Promise<string> {
  const values: Readonly<Record<string, string>> = {
    PORT: String(port),
    UPSTREAM_PORT: String(site.upstreamPort),
    FOLDER: site.folder,
    ANSWER,
  };
  const template = await readFile(new URL(`config/${file}`, import.meta.url), 'utf8');
  const text = template.replaceAll(/@([A-Z_]+)@/g, (place, name: string) => values[name] ?? place);
  const target = path.join(site.folder, file);
  await writeFile(target, text);
  return target;
}
