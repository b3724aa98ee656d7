import { z } from 'zod';
import { callFrameSchema, nameOf, type CallFrame } from '../profile/call-frame.ts';

/** A function in a sampling heap profile of V8, with the functions that it called. */
export interface HeapProfileNode {
  readonly callFrame: CallFrame;
  /** Bytes allocated in it, estimated from the samples. */
  readonly selfSize: number;
  readonly children: readonly HeapProfileNode[];
}

const nodeSchema: z.ZodType<HeapProfileNode> = z.object({
  callFrame: callFrameSchema,
  selfSize: z.number(),
  get children() {
    return z.array(nodeSchema);
  },
});

/** What `HeapProfiler.stopSampling` returns. */
export const heapProfileReply = z.object({ profile: z.object({ head: nodeSchema }) });

/** The bytes of each function, the most first. What a built-in function allocates counts for its caller. */
export function bytesByFunction(head: HeapProfileNode): [name: string, bytes: number][] {
  const sums = new Map<string, number>();
  const visit = (node: HeapProfileNode, caller: string) => {
    const name = node.callFrame.url === '' ? caller : nameOf(node.callFrame);
    sums.set(name, (sums.get(name) ?? 0) + node.selfSize);
    for (const child of node.children) visit(child, name);
  };
  visit(head, 'native code of Node and V8');
  return [...sums].filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]);
}
