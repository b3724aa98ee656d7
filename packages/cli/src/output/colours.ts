export type Style = 'red' | 'green' | 'yellow' | 'bold' | 'dim';

export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/** The sequences that begin and end each style (ECMA-48, SGR). */
const SEQUENCES: Readonly<Record<Style, readonly [begin: number, end: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  bold: [1, 22],
  dim: [2, 22],
};

/** The text in this style. */
export function styled(style: Style, text: string): string {
  const [begin, end] = SEQUENCES[style];
  return text === '' ? text : `\u001b[${begin}m${text}\u001b[${end}m`;
}

/**
 * Whether stdout gets colours. `auto`: if it is a terminal, unless `NO_COLOR` is set (no-color.org); `FORCE_COLOR` is for
 * what shows the colours of a pipe, such as CI.
 */
export function usesColour(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
  choice: ColourChoice,
): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '') return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}
