import { nameOf, sumBy, type CallFrame, type CallNode } from './call-tree.ts';

/** A CPU profile of V8: a tree of call frames, and for each sample the frame that was executing. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

/** A share of the CPU time, 0 to 1, idle time excluded. */
export interface Share {
  readonly name: string;
  readonly share: number;
}

/** Sums the self time by part and by function, largest first. */
export function breakDown(profile: CpuProfile) {
  const root = treeOf(profile);
  const shares = (sums: ReturnType<typeof sumBy>): Share[] => {
    const totalUs = sums.reduce((total, [, us]) => total + us, 0);
    return sums.map(([name, us]) => ({ name, share: us / totalUs }));
  };
  return { parts: shares(sumBy(root, partOf, OTHER)), functions: shares(sumBy(root, nameOf)) };
}

function treeOf({ nodes, samples, timeDeltas }: CpuProfile): CallNode {
  const us = new Map<number, number>();
  for (const [index, id] of samples.entries()) {
    us.set(id, (us.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const subtree = (id: number): CallNode[] => {
    const node = byId.get(id);
    if (node === undefined || node.callFrame.functionName === '(idle)') return [];
    const { callFrame, children = [] } = node;
    return [{ callFrame, selfSize: us.get(id) ?? 0, children: children.flatMap(subtree) }];
  };
  const [root] = nodes.slice(0, 1).flatMap(({ id }) => subtree(id));
  if (root === undefined) throw new Error('the profile is empty');
  return root;
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
  [/packages\/http\/src\/http2\//, 'HTTP/2 engine'],
  [/packages\/http1?\//, 'HTTP/1 engine'],
  [/packages\/data-plane\/src\/([\w-]+)\//, 'data plane: $1'],
  [/packages\/data-plane\/src\//, 'data plane'],
  [/packages\/shared\/src\//, 'shared'],
];

/** A built-in function has no file, so its time counts for its caller; a write counts for its target. */
function partOf({ functionName, url }: CallFrame, callerUrl: string): string | undefined {
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
