import type { GatewayClient } from '@gateway/client';
import type { Command } from 'commander';
import {
  differenceLines,
  type ApplyResult,
  type Background,
  type ResourceChange,
} from '../../difference/difference-lines.ts';
import type { Fields } from '../../difference/field-lines.ts';
import { nameOf, placeInManifest } from '../../manifest/manifest.ts';
import { linesText } from '../../output/print.ts';
import { DifferenceError } from '../../program/exit-codes.ts';
import type { Session } from '../../session.ts';
import type { DesiredState } from './desired-state.ts';
import { compareDesiredState } from './send-desired-state.ts';

export interface ExitCodeOption {
  readonly exitCode?: true;
}

export const withExitCodeOption = (command: Command): Command =>
  command.option('--exit-code', 'exit with 2 if there is a difference');

/**
 * Prints what an apply would change.
 * @throws DifferenceError if there is a difference and the user asked for the exit code
 */
export async function showDifference(
  session: Session,
  desired: DesiredState,
  { exitCode }: ExitCodeOption,
): Promise<void> {
  const { terminal, printsData } = session;
  const result = await compareDesiredState(session, desired);
  if (printsData) await session.printResource(result);
  else terminal.out(linesText(await linesOfDifference(session, desired, result)));
  if (exitCode && result.changed) throw new DifferenceError();
}

/** What an apply would change, with the fields that the files and the environment have. */
export async function linesOfDifference(
  { terminal, client }: Session,
  desired: DesiredState,
  result: ApplyResult,
): Promise<readonly string[]> {
  const hasDeletions = result.services.deleted + result.routes.deleted > 0;
  const exported = hasDeletions ? await exportedFields(client, desired.environment) : new Map();
  return differenceLines(result, terminal, backgroundOf(desired, exported));
}

type FieldsByName = ReadonlyMap<string, Fields>;

const keyOf = (kind: string, name: unknown) => `${kind}s/${String(name)}`;

/** The resources of an environment without their defaults. */
async function exportedFields(client: GatewayClient, name: string): Promise<FieldsByName> {
  const { body } = await client.get('/v1/environments/{name}/export', {
    params: { path: { name } },
  });
  const { services, routes } = body.data;
  return new Map<string, Fields>([
    ...services.map((one) => [keyOf('service', one['name']), one] as const),
    ...routes.map((one) => [keyOf('route', one['name']), one] as const),
  ]);
}

function backgroundOf({ manifest }: DesiredState, exported: FieldsByName): Background {
  const declared = new Map<string, { fields: Fields; pointer: string }>();
  for (const [kind, items] of Object.entries(manifest.items)) {
    items?.forEach(({ value }, at) => {
      const pointer = `/${kind}/${at}`;
      declared.set(`${kind}/${nameOf(value) ?? ''}`, { fields: value as Fields, pointer });
    });
  }
  const key = ({ resource_type, name }: ResourceChange) => keyOf(resource_type, name);
  return {
    place(change) {
      const found = declared.get(key(change));
      return found && placeInManifest(manifest, found.pointer);
    },
    given: (change) => declared.get(key(change))?.fields ?? exported.get(key(change)),
  };
}
