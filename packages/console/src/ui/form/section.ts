import { isSame, type Draft } from './draft.ts';

/** Fields that belong together. */
export interface Section {
  readonly title: string;
  readonly description?: string;
  readonly columns?: 1;
  /** The names of the fields. */
  readonly fields: readonly string[];
}

/** A section that is folded until the reader wants to change it. */
export interface FoldedSection extends Section {
  /** What the section does now, in one sentence; undefined: it is made of the definitions of its fields. */
  readonly sentence?: (draft: Draft) => string | undefined;
}

/** `changed`: the reader changed it in this form. `own`: it does not have its defaults. */
export type SectionState = 'usual' | 'own' | 'changed';

/** What was done with the fields of a section. @param own what of the draft does not have its default */
export function sectionState(
  names: readonly string[],
  draft: Draft,
  base: Draft,
  own: Draft,
): SectionState {
  if (names.some((name) => !isSame(draft[name], base[name]))) return 'changed';
  return names.some((name) => name in own) ? 'own' : 'usual';
}
