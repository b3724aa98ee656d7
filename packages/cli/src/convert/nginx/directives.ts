import { FailedError } from '../../program/exit-codes.ts';
import type { Source } from '../../manifest/read-sources.ts';
import { Tokens } from './tokens.ts';

/** A directive of nginx. */
export interface Directive {
  readonly name: string;
  readonly args: readonly string[];
  /** Such as `nginx.conf:3:5`. */
  readonly place: string;
  /** The directives of its block; undefined: it has none. */
  readonly block: readonly Directive[] | undefined;
}

const MAX_DEPTH = 50;

/** The directives of a file; other files that it includes are not read. @throws FailedError with the place and the rule */
export function readDirectives({ name: file, text }: Source): readonly Directive[] {
  const tokens = new Tokens(file, text);
  const root: Directive[] = [];
  const open: Directive[][] = [root];
  for (;;) {
    const { words, end, line, column } = tokens.next();
    const place = `${file}:${line}:${column}`;
    if (end === 'end of file') {
      if (open.length > 1) throw new FailedError(`${place}: the file ends where } must follow`);
      return root;
    }
    if (end === '}') {
      open.pop();
      if (open.length === 0) throw new FailedError(`${place}: unexpected }`);
      continue;
    }
    const [name = '', ...args] = words;
    const block: Directive[] | undefined = end === '{' ? [] : undefined;
    open.at(-1)?.push({ name, args, place, block });
    if (block === undefined) continue;
    if (/_by_lua_block$/.test(name)) tokens.skipLua();
    else open.push(block);
    if (open.length > MAX_DEPTH) throw new FailedError(`${place}: it is nested too deeply`);
  }
}
