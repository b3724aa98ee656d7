/** What a route does, in words. */
export interface Policy {
  readonly title: string;
  /** Whole sentences. Texts of the route in them may be hostile; they are rendered as text. */
  readonly sentences: readonly string[];
}
