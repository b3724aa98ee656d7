import { countedText } from '@gateway/client/measures';
import { requireYes } from '../../confirmation/confirm-change.ts';
import { heading } from '../../difference/difference-lines.ts';
import { linesText } from '../../output/print.ts';
import type { Session } from '../../session.ts';
import type { DesiredState } from './desired-state.ts';
import { compareDesiredState } from './send-desired-state.ts';
import { linesOfDifference } from './show-difference.ts';

/**
 * Lists what a prune deletes, and asks. Returns the version of the configuration that the list is of, so that nothing
 * else can be deleted.
 * @throws FailedError if the answer is no
 */
export async function confirmPrune(
  session: Session,
  desired: DesiredState,
  signal: AbortSignal,
): Promise<number> {
  const { terminal } = session;
  const { ifVersion, planned } = await plan(session, desired, signal);
  const deleted = planned.changes.filter(({ action }) => action === 'deleted');
  if (deleted.length === 0) return ifVersion;
  const others = planned.changes.length - deleted.length;
  const lines = deleted.map((change) => heading(change, terminal));
  terminal.error(`--prune deletes what the files do not have:\n${linesText(lines)}`);
  const more = others === 0 ? '' : ` and make ${countedText(others, 'other change')}`;
  const what = countedText(deleted.length, 'resource');
  await requireYes(terminal, `Delete ${what} of ${desired.environment}${more}?`, signal);
  return ifVersion;
}

/**
 * Shows all that an apply of another environment changes, and asks, as `confirmPrune` does: nobody has reviewed a file.
 * @throws FailedError if the answer is no
 */
export async function confirmFrom(
  session: Session,
  desired: DesiredState,
  signal: AbortSignal,
): Promise<number> {
  const { terminal } = session;
  const { ifVersion, planned } = await plan(session, desired, signal);
  if (!planned.changed) return ifVersion;
  terminal.error(linesText(await linesOfDifference(session, desired, planned)));
  await requireYes(terminal, `Apply this to ${desired.environment}?`, signal);
  return ifVersion;
}

/** What an apply would change, and the version of the configuration that it would change. */
async function plan(session: Session, desired: DesiredState, signal: AbortSignal) {
  const params = { path: { name: desired.environment } };
  const { body } = await session.client.get('/v1/environments/{name}', { params, signal });
  const ifVersion = body.data.config_version;
  return { ifVersion, planned: await compareDesiredState(session, desired, { ifVersion, signal }) };
}
