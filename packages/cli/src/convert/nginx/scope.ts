import type { Directive } from './directives.ts';

/** A block with those around it, from which it inherits settings. */
export class Scope {
  readonly directives: readonly Directive[];
  readonly parent: Scope | undefined;

  constructor(directives: readonly Directive[], parent?: Scope) {
    this.directives = directives;
    this.parent = parent;
  }

  /** The directives of this block with one of these names. */
  own(...names: readonly string[]): readonly Directive[] {
    return this.directives.filter(({ name }) => names.includes(name));
  }

  /** The directives of the nearest block that has any of these: lists are not joined, as nginx inherits them. */
  inherited(...names: readonly string[]): readonly Directive[] {
    const own = this.own(...names);
    return own.length > 0 ? own : (this.parent?.inherited(...names) ?? []);
  }

  /** The last directive of the nearest block that has it. */
  setting(name: string): Directive | undefined {
    return this.inherited(name).at(-1);
  }

  /** This block and those around it, the inner one first. */
  chain(): readonly Scope[] {
    return [this, ...(this.parent?.chain() ?? [])];
  }
}

const MULTIPLIERS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
};

/** A size such as `8m`, in bytes. */
export function sizeOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+)([kmg]?)$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (MULTIPLIERS[unit.toLowerCase()] ?? 1);
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** A time such as `1m 30s`, in milliseconds. */
export function msOf(words: readonly string[]): number | undefined {
  const text = words.join('');
  // Not one pattern for all parts: it would try every way to divide a long row of digits.
  const parts = [...text.matchAll(/(\d{1,10})(ms|[smhd])?/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return parts.reduce(
    (sum, [, digits, unit = 's']) => sum + Number(digits) * (SECONDS[unit] ?? 1) * 1000,
    0,
  );
}
