import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { findDebianTool } from './debian-tool.ts';

/** A registry of images on a free port of this machine. */
export interface Registry {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Starts Debian's docker-registry, which keeps its data in a folder. */
export async function startRegistry(folder: string): Promise<Registry> {
  const { file, env } = await findDebianTool('docker-registry', 'the tests of images');
  const settings = {
    version: 0.1,
    log: { level: 'info' },
    storage: {
      filesystem: { rootdirectory: path.join(folder, 'registry') },
      delete: { enabled: true },
    },
    http: { addr: '127.0.0.1:0', secret: randomBytes(16).toString('hex') },
  };
  // JSON is YAML.
  const settingsFile = path.join(folder, 'registry.yml');
  await writeFile(settingsFile, JSON.stringify(settings));
  const child = spawn(file, ['serve', settingsFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  const address = Promise.withResolvers<string>();
  // The port is in its log.
  createInterface(child.stderr).on('line', (line) => {
    const found = /listening on (127\.0\.0\.1:\d+)/.exec(line)?.[1];
    if (found !== undefined) address.resolve(found);
  });
  void ended.then(() => address.reject(new Error('docker-registry has ended')));
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { url: `http://${await address.promise}`, stop };
}
