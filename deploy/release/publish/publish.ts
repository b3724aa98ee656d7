import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { changesOf, releaseTimeMs } from '../changelog.ts';
import { SUMS, verifySums } from '../sums.ts';
import { readPublicKey, verifyFile } from '../signature/minisign.ts';
import { chartLayout, imageLayouts, manifestsLayout, type ReleaseFolder } from './layouts.ts';
import { publishSteps, shellLine, type Target } from './steps.ts';

export interface PublishOptions extends ReleaseFolder, Omit<Target, 'notes'> {
  readonly changelog: string;
  /** The public key that the release must be signed with. */
  readonly publicKey: string;
  /** A new folder for what is copied to the registry; it stays, for commands that are run by hand. */
  readonly layouts: string;
  /** Whether commands are run; else they are only printed. */
  readonly execute: boolean;
  readonly log: (line: string) => void;
}

const STEP_MS = 1_800_000;

/**
 * Publishes a release, or says with which commands: images, chart and manifests to a registry, the files to a release of GitHub, gwctl and the
 * client to npm.
 *
 * @throws Error if a checksum or the signature is wrong, the version has no entry in the changelog, or a command fails
 */
export async function publish(options: PublishOptions): Promise<void> {
  const { folder, version, layouts: output, log } = options;
  await verifySums(folder);
  const read = (file: string) => readFile(path.join(folder, file));
  const signature = (await read(`${SUMS}.minisig`)).toString();
  const trusted = verifyFile(await read(SUMS), signature, readPublicKey(options.publicKey));
  log(`# checksums and signature are right: ${trusted}`);
  const timeMs = releaseTimeMs(options.changelog, version);
  const changes = changesOf(options.changelog, version);
  if (timeMs === undefined || changes === undefined) {
    throw new Error(`CHANGELOG.md has no entry of ${version}`);
  }
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  const notes = path.join(output, 'notes.md');
  await writeFile(notes, changes);
  const layouts = [
    ...(await imageLayouts(options, output)),
    await chartLayout(options, output),
    await manifestsLayout(options, output, timeMs),
  ];
  for (const step of publishSteps(options, layouts, { ...options, notes })) {
    log(`# ${step.what}`);
    log(shellLine(step));
    if (options.execute) await runOrThrow(step.command, step.args, { timeoutMs: STEP_MS });
  }
  if (!options.execute) log('# nothing was published; add --execute to run these commands');
}
