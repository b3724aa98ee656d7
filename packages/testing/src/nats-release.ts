import path from 'node:path';
import { OLDEST_NATS_SERVER } from '@gateway/shared/messaging/server-version';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { unpackedProgram } from './debian-program.ts';

/** The oldest release of Debian whose nats-server the gateway accepts: 2.10.27. */
const OLDEST = {
  name: 'nats-server',
  suite: 'trixie',
  folder: `nats-server-since-${OLDEST_NATS_SERVER}`,
  purpose: 'tests with TEST_NATS_SERVER=oldest',
  program: 'usr/sbin/nats-server',
  command: ['download', 'nats-server'],
  hint: 'leave TEST_NATS_SERVER unset',
};

/**
 * Makes this process, and what it starts, use the nats-server that `TEST_NATS_SERVER` names: `oldest`, or by default the
 * one that `npm start` uses.
 *
 * @throws {StartError} if it cannot be downloaded; Error for another name
 */
export async function chooseNatsServer(): Promise<void> {
  const name = process.env['TEST_NATS_SERVER'] ?? '';
  if (name === '') return;
  if (name !== 'oldest') throw new Error('TEST_NATS_SERVER must be "oldest" or unset');
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const folder = path.dirname(path.join(await unpackedProgram(OLDEST, { log }), OLDEST.program));
  process.env['PATH'] = [folder, process.env['PATH']].join(path.delimiter);
  log(`tests use ${await findOnPath('nats-server')}`);
}
