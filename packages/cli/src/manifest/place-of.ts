import { isAlias, isMap, isScalar, isSeq, type Document } from 'yaml';
import type { SourceDocument } from './parse-source.ts';

/**
 * Where a field stands: the place of its key, or of the item of a list. A field that is missing is at the place of the
 * object that should have it.
 * @param node where the path begins
 */
export function placeOf(
  { document, placeAt }: SourceDocument,
  node: unknown,
  path: readonly string[],
): string {
  let current = node;
  let offset = offsetOf(node);
  for (const part of path) {
    const step = childOf(target(document, current), part);
    if (step === undefined) break;
    offset = offsetOf(step.at) || offset;
    current = step.node;
  }
  return placeAt(offset);
}

/** The node at a path, or undefined. */
export function nodeAt({ document }: SourceDocument, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (node, part) => childOf(target(document, node), part)?.node,
    document.contents,
  );
}

interface Step {
  /** The node whose place is that of the child. */
  readonly at: unknown;
  readonly node: unknown;
}

function childOf(node: unknown, part: string): Step | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
    return pair && { at: pair.key, node: pair.value };
  }
  const child = isSeq(node) ? node.items[Number(part)] : undefined;
  return child === undefined ? undefined : { at: child, node: child };
}

function target(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function offsetOf(node: unknown): number {
  const { range } = (node ?? {}) as { range?: readonly number[] | null };
  return range?.[0] ?? 0;
}
