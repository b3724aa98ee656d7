/** A function in a profile of V8. One that is built in has no URL. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** A function, with what it used itself (bytes or µs), and the functions that it called. */
export interface CallNode {
  readonly callFrame: CallFrame;
  readonly selfSize: number;
  readonly children: readonly CallNode[];
}

/** The name of a function with its file and line. */
export function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = url.replace(/^.*\/(?:node_modules|packages)\//, '').replace(/^.*\/(?=bench\/)/, '');
  const where = url === '' ? '' : ` (${file}:${lineNumber + 1})`;
  return `${functionName === '' ? 'anonymous' : functionName}${where}`;
}

/** As `nameOf`, but nothing for a built-in function: what it uses counts for its caller. */
export const ownNameOf = (frame: CallFrame) => (frame.url === '' ? undefined : nameOf(frame));

/**
 * Sums what functions used by group, the most first.
 *
 * @param groupOf undefined: the group of the caller
 * @param outermost the group of what has no caller
 */
export function sumBy(
  root: CallNode,
  groupOf: (frame: CallFrame, callerUrl: string) => string | undefined,
  outermost = 'native code of Node and V8',
): readonly (readonly [group: string, sum: number])[] {
  const sums = new Map<string, number>();
  const visit = ({ callFrame, selfSize, children }: CallNode, url: string, callers: string) => {
    const group = groupOf(callFrame, url) ?? callers;
    sums.set(group, (sums.get(group) ?? 0) + selfSize);
    for (const child of children) visit(child, callFrame.url, group);
  };
  visit(root, '', outermost);
  return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
}
