import { ApiError, type components, type ErrorDetail } from '@gateway/client';
import { countText } from '@gateway/client/measures';
import type { ApplyResult } from '../../difference/difference-lines.ts';
import { inOrder, placedFault } from '../../manifest/placed-fault.ts';
import { RefusedInputError } from '../../program/refused-input.ts';
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
 * @throws RefusedInputError with the place of each field that the API refuses
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
  const label = `${dryRun ? 'Comparing' : 'Applying'} ${countText(count)} services and routes`;
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
    const faults = inOrder(error.details.flatMap((detail) => faultsOf(desired, detail)));
    throw new RefusedInputError(REFUSED, error, faults);
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

const REFUSED = 'The gateway refuses what the files declare, and has changed nothing.';

/** A fault that the API found, at its place in a file. */
function faultsOf({ manifest, unset }: DesiredState, detail: ErrorDetail): string[] {
  const { path, message } = detail;
  const within = unset.filter(({ pointer }) => `${pointer}/`.startsWith(`${path}/`));
  if (within.length > 0 && message.includes('is a reference that was not replaced')) {
    return within.map(
      ({ place, variable }) =>
        `${place}: the variable ${variable} is not set, and there is no stored secret to keep`,
    );
  }
  return [placedFault(manifest, detail)];
}
