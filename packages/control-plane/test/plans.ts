import type { RawNode, RootOperationNode } from 'kysely';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Presorted Key'?: readonly string[];
  /** The expressions that the node computes. */
  readonly Output?: readonly string[];
  readonly Plans?: readonly PlanNode[];
}

/** Makes a raw statement an EXPLAIN of itself. */
export function explain(node: RootOperationNode): RawNode {
  const [first, ...others] = (node as RawNode).sqlFragments;
  return {
    ...(node as RawNode),
    sqlFragments: [`EXPLAIN (VERBOSE, FORMAT JSON) ${first}`, ...others],
  };
}

/** The nodes of a plan, from the top, in what an EXPLAIN returned. */
export function planNodes(rows: readonly unknown[]): readonly PlanNode[] {
  const [row] = rows as readonly { 'QUERY PLAN': readonly { Plan: PlanNode }[] }[];
  return row?.['QUERY PLAN'].flatMap(({ Plan }) => flatten(Plan)) ?? [];
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
