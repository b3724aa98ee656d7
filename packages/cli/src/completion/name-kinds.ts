/** What is completed by its names, as the help of a command calls its argument. */
export const NAME_KINDS = ['route', 'service', 'token', 'environment', 'context'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export const isNameKind = (text: string): text is NameKind =>
  NAME_KINDS.some((kind) => kind === text);
