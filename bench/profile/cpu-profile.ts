import { z } from 'zod';
import { callFrameSchema, nameOf } from './call-frame.ts';

/** A CPU profile of V8: a tree of call frames, and for each sample the frame that was executing. */
export const cpuProfileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: callFrameSchema,
      children: z.array(z.int()).optional(),
    }),
  ),
  samples: z.array(z.int()),
  /** Microseconds since the previous sample. */
  timeDeltas: z.array(z.number()),
});

export type CpuProfile = z.infer<typeof cpuProfileSchema>;
type ProfileNode = CpuProfile['nodes'][number];

/** A share of the CPU time, 0 to 1, idle time excluded. */
export interface Share {
  readonly name: string;
  readonly share: number;
}

export interface Breakdown {
  readonly parts: readonly Share[];
  readonly functions: readonly Share[];
}

/** Sums the self time by part and by function, largest first. */
export function breakDown(profile: CpuProfile): Breakdown {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parts = partsOf(profile.nodes, nodes);
  const byPart = new Map<string, number>();
  const byFunction = new Map<string, number>();
  let totalUs = 0;
  for (const [index, id] of profile.samples.entries()) {
    const node = nodes.get(id);
    if (node === undefined || node.callFrame.functionName === '(idle)') continue;
    const us = profile.timeDeltas[index] ?? 0;
    totalUs += us;
    const name = nameOf(node.callFrame);
    const part = parts.get(id) ?? OTHER;
    byPart.set(part, (byPart.get(part) ?? 0) + us);
    byFunction.set(name, (byFunction.get(name) ?? 0) + us);
  }
  const shares = (sums: ReadonlyMap<string, number>) =>
    [...sums]
      .map(([name, us]) => ({ name, share: us / totalUs }))
      .sort((a, b) => b.share - a.share);
  return { parts: shares(byPart), functions: shares(byFunction) };
}

const OTHER = 'other';
const NATIVE = new Map([
  ['(garbage collector)', 'garbage collector'],
  ['(program)', 'native code of Node and V8: event loop, reads, llhttp'],
]);

/** The first pattern that matches the file of a function gives the name of its part. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^node:(_http|internal\/http)/, 'node:http'],
  [/^node:(net|stream|internal\/(streams|stream_base|net))/, 'node: sockets and streams'],
  [/^node:/, 'node: events, ticks, timers, buffers'],
  [/node_modules\/undici\/|^wasm:/, 'undici'],
  [/node_modules\/(pino|sonic-boom|quick-format-unescaped|on-exit-leak-free)\//, 'log (pino)'],
  [/node_modules\/(prom-client|tdigest|bintrees)\//, 'metrics (prom-client)'],
  [/node_modules\/@nats-io\//, 'NATS client'],
  [/packages\/http1\//, 'HTTP/1 engine'],
  [/packages\/data-plane\/src\/([\w-]+)\//, 'data plane: $1'],
  [/packages\/data-plane\/src\//, 'data plane'],
  [/packages\/shared\/src\//, 'shared'],
];

/** The part of each node. A built-in function has no file, so its time counts for its caller. */
function partsOf(
  all: readonly ProfileNode[],
  nodes: ReadonlyMap<number, ProfileNode>,
): ReadonlyMap<number, string> {
  const parts = new Map<number, string>();
  const visit = (node: ProfileNode, callerUrl: string, callerPart: string) => {
    const part = partOf(node, callerUrl) ?? callerPart;
    parts.set(node.id, part);
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child !== undefined) visit(child, node.callFrame.url, part);
    }
  };
  const [root] = all;
  if (root !== undefined) visit(root, '', OTHER);
  return parts;
}

function partOf({ callFrame }: ProfileNode, callerUrl: string): string | undefined {
  const { functionName, url } = callFrame;
  const native = NATIVE.get(functionName);
  if (native !== undefined) return native;
  if (url === '') {
    if (!/^write[vULBS]/.test(functionName)) return undefined;
    return callerUrl === 'node:fs' ? 'log writes' : 'socket writes (system calls)';
  }
  for (const [pattern, name] of PARTS) {
    const match = pattern.exec(url);
    if (match !== null) return name.replace('$1', match[1] ?? '');
  }
  return OTHER;
}
