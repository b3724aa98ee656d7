import { ApiError, type components } from '@gateway/client';
import type { ApplyResult } from '../../difference/difference-lines.ts';
import { fieldName } from '../../difference/field-lines.ts';
import { placeInManifest } from '../../manifest/manifest.ts';
import { RefusedFilesError } from '../../program/refused-files.ts';
import type { Session } from '../../session.ts';
import { withProgress } from '../../terminal/progress.ts';
import type { DesiredState } from './desired-state.ts';

interface SendOptions {
  readonly dryRun: boolean;
  /** Change nothing if another version is the newest. */
  readonly ifVersion?: number;
  readonly signal?: AbortSignal;
}

/**
 * Sends what files declare to the gateway, which compares it, and changes the environment unless it is a dry run.
 * @returns undefined if the token may not see what has changed
 * @throws RefusedFilesError with the place of each field that the API refuses
 */
export async function sendDesiredState(
  session: Session,
  desired: DesiredState,
  { dryRun, ifVersion, signal }: SendOptions,
): Promise<ApplyResult | undefined> {
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
    return answer.body?.data;
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.length === 0) throw error;
    const faults = error.details.flatMap((detail) => faultsOf(desired, detail));
    faults.sort(byPlace.compare);
    throw new RefusedFilesError(error, faults);
  }
}

/**
 * Compares what files declare with the environment, without a change. @throws as `sendDesiredState`
 */
export async function compareDesiredState(
  session: Session,
  desired: DesiredState,
  options: Omit<SendOptions, 'dryRun'> = {},
): Promise<ApplyResult> {
  const result = await sendDesiredState(session, desired, { ...options, dryRun: true });
  if (result === undefined) throw new Error('the gateway answered a dry run without a difference');
  return result;
}

/** Line 10 comes after line 9. */
const byPlace = new Intl.Collator('en', { numeric: true });

/** A fault that the API found, at its place in a file. */
function faultsOf(
  { manifest, unset }: DesiredState,
  { path, message }: { readonly path: string; readonly message: string },
): string[] {
  const within = unset.filter(({ pointer }) => `${pointer}/`.startsWith(`${path}/`));
  if (within.length > 0 && message.includes('is a reference that was not replaced')) {
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
