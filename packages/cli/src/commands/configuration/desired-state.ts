import { ApiError, type components } from '@gateway/client';
import type { Command } from 'commander';
import type { ApplyResult } from '../../difference/difference-lines.ts';
import { fieldName } from '../../difference/field-lines.ts';
import { collect } from '../../input/body-options.ts';
import { placeInManifest, readManifest, type Manifest } from '../../manifest/manifest.ts';
import { readSources } from '../../manifest/read-sources.ts';
import { replaceReferences, type Replaced } from '../../manifest/replace-references.ts';
import { UsageError } from '../../program/exit-codes.ts';
import { RefusedFilesError } from '../../program/refused-files.ts';
import type { Session } from '../../session.ts';
import { withProgress } from '../../terminal/progress.ts';

export interface FileOptions {
  readonly file: readonly string[];
  readonly prune?: true;
  readonly requireSecrets?: true;
}

/** Adds the options of the commands that read files of services and routes. */
export const withFileOptions = (command: Command): Command =>
  command
    .requiredOption(
      '-f, --file <file>',
      'a YAML or JSON file, a directory of them, or - for stdin; may be repeated',
      collect,
    )
    .option('--prune', 'delete services and routes that the files do not have')
    .option('--require-secrets', 'fail if the variable of a secret is not set');

/** An apply of so many resources takes some seconds, and waits for other changes. */
export const APPLY_TIMEOUT_MS = 120_000;

/** What files declare for an environment. */
export interface DesiredState extends Replaced {
  readonly manifest: Manifest;
  readonly environment: string;
  readonly prune: boolean;
}

/** Reads the files of a command. @throws UsageError with the place of each fault */
export async function readDesiredState(
  session: Session,
  { file, prune, requireSecrets }: FileOptions,
): Promise<DesiredState> {
  const { terminal } = session;
  const manifest = readManifest(await readSources(file, terminal));
  const environment = environmentOf(session, manifest);
  const { document, unset } = replaceReferences(manifest, terminal.env);
  if (requireSecrets && unset.length > 0) {
    const faults = unset.map(
      ({ place, variable }) => `${place}: the variable ${variable} is not set`,
    );
    throw new UsageError(faults.join('\n  '));
  }
  return { manifest, environment, document, unset, prune: prune ?? false };
}

function environmentOf(session: Session, { environment }: Manifest): string {
  if (environment === undefined) return session.requireEnvironment();
  const { name, place } = environment;
  if (typeof name !== 'string') throw new UsageError(`${place}: environment must be a name`);
  if (session.environment !== undefined && session.environment !== name) {
    throw new UsageError(
      `${place}: the environment is ${name}, but that of the command is ${session.environment}`,
    );
  }
  return name;
}

export interface SendOptions {
  readonly dryRun: boolean;
  /** Change nothing if another version is the newest. */
  readonly ifVersion?: number;
  readonly signal?: AbortSignal;
}

/**
 * Sends what files declare to the gateway, which compares it, and changes the environment unless it is a dry run.
 * @throws RefusedFilesError with the place of each field that the API refuses
 */
export async function sendDesiredState(
  session: Session,
  desired: DesiredState,
  { dryRun, ifVersion, signal }: SendOptions,
): Promise<ApplyResult> {
  const { environment, document, prune, unset } = desired;
  const count = Object.values(document).reduce((sum, { length }) => sum + length, 0);
  const body = {
    ...document,
    prune,
    dry_run: dryRun,
    ...(ifVersion === undefined ? {} : { if_version: ifVersion }),
  };
  const label = `${dryRun ? 'Comparing' : 'Applying'} ${count} services and routes`;
  try {
    const answer = await withProgress(session.terminal, label, () =>
      session.client.post('/v1/environments/{name}/apply', {
        params: { path: { name: environment } },
        // The API checks the fields.
        body: body as components['schemas']['EnvironmentApply'],
        ...(signal === undefined ? {} : { signal }),
      }),
    );
    for (const { place, variable } of unset) {
      session.note(`${place}: the variable ${variable} is not set; the stored secret is kept`);
    }
    return answer.body.data;
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.length === 0) throw error;
    const faults = error.details.flatMap((detail) => faultsOf(desired, detail));
    faults.sort(byPlace.compare);
    throw new RefusedFilesError(error, faults);
  }
}

/** Line 10 comes after line 9. */
const byPlace = new Intl.Collator('en', { numeric: true });

/** A fault that the API found, at its place in a file. */
function faultsOf(
  { manifest, unset }: DesiredState,
  { path, message }: { readonly path: string; readonly message: string },
): string[] {
  const within = unset.filter(({ pointer }) => `${pointer}/`.startsWith(`${path}/`));
  if (path !== '' && within.length > 0) {
    return within.map(
      ({ place, variable }) =>
        `${place}: the variable ${variable} is not set, and there is no stored secret to keep`,
    );
  }
  const place = placeInManifest(manifest, path);
  if (place === undefined) return [`${path}: ${message}`];
  const field = fieldName(path.split('/').slice(2).join('/'));
  // The API puts the resource before the rule, such as `route charges: must be …`.
  const [, resource = '', rule = ''] =
    /^((?:(?:service|route) [\w. -]+: )?)(.*)$/s.exec(message) ?? [];
  return [`${place}: ${resource}${field === '' ? '' : `${field} `}${rule}`];
}
