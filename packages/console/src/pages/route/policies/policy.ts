import type { Route } from '../../../api/client.ts';

/** What a route does, in words. */
export interface Policy {
  readonly title: string;
  /** The field that decides it, at which the form opens. */
  readonly field: keyof Route;
  /** Whole sentences. Texts of the route in them may be hostile; they are rendered as text. */
  readonly sentences: readonly string[];
}
