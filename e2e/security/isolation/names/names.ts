import { describe, expect, it } from '@jest/globals';
import type { ApiDocument, Operation } from '../../../api/contract/document.ts';
import type { ManagementRow, ManagementRows } from '../calls/management-row.ts';
import { changesSince } from '../changes.ts';
import { oneByOne } from '../one-by-one.ts';
import type { Cells } from '../cells.ts';
import { endpointOf } from './places.ts';
import { differences, isChange, nameOf, send, triesOf, type Tried, type Try } from './try.ts';
import { waysOf } from './ways.ts';
import type { NamesWorld } from './world.ts';

export interface NamesOptions {
  readonly document: ApiDocument;
  /** Made before the first test. */
  readonly world: () => NamesWorld;
  readonly rows: () => ManagementRows;
  readonly cells: Cells;
}

/** Each operation with each way to name something, and each reach of it. */
export function describeNames({ document, world, rows, cells }: NamesOptions): void {
  // Reads first: the changes that are allowed leave the names that they try in the audit events.
  const [reads, changes] = [true, false].map((isRead) =>
    document.operations.filter(({ method }) => (method === 'GET') === isRead),
  );
  const operations = [...(reads ?? []), ...(changes ?? [])];
  describe('answers nothing about what a call names out of its reach', () => {
    it.each(operations.map((one) => [endpointOf(one), one] as const))(
      '%s',
      async (endpoint, operation) => {
        const row = rows()[endpoint];
        if (row === undefined) throw new Error(`the matrix does not say how to call ${endpoint}`);
        const startedMs = Date.now();
        const tried = await tryAll(document, world(), operation, row);
        cells.add(tried.length);
        const faults = tried.flatMap(({ way, reach, faults: found }) =>
          found.map((fault) => `${nameOf(operation, way, reach)}: ${fault}`),
        );
        const changed = await changedBy(world(), operation, startedMs, tried);
        expect([...faults, ...differences(operation, tried), ...changed]).toEqual([]);
      },
    );
  });
}

/** Calls that change nothing are sent at the same time, on the same resources. */
async function tryAll(
  document: ApiDocument,
  world: NamesWorld,
  operation: Operation,
  row: ManagementRow,
): Promise<readonly Tried[]> {
  const tries = triesOf(operation, waysOf(document, operation));
  const base = await row.call();
  const harmless = tries.filter((one) => !isChange(operation, one));
  const tried = await Promise.all(harmless.map((one) => send(world, operation, row, base, one)));
  await base.cleanUp?.();
  const changes: Tried[] = [];
  const change = async (one: Try) => {
    const call = await row.call();
    changes.push(await send(world, operation, row, call, one));
    await call.cleanUp?.();
  };
  const changing = tries.filter((one) => isChange(operation, one));
  await (row.alone ? oneByOne(changing, change) : Promise.all(changing.map(change)));
  return [...tried, ...changes];
}

/** The calls that changed something although they must not. */
async function changedBy(
  { gateway }: NamesWorld,
  operation: Operation,
  startedMs: number,
  tried: readonly Tried[],
): Promise<readonly string[]> {
  if (operation.method === 'GET') return [];
  const changes = await changesSince(gateway.admin, startedMs);
  return tried.flatMap((one) => {
    const actions = changes.get(one.requestId);
    if (actions === undefined || isChange(operation, one)) return [];
    return [`${nameOf(operation, one.way, one.reach)}: ${actions.join(', ')} was done`];
  });
}
