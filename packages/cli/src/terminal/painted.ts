import { styled, usesColour, type ColourChoice } from '../output/colours.ts';
import type { Terminal } from './terminal.ts';

/** The terminal with the colours that `--color` asks for. */
export function painted(terminal: Terminal, choice: ColourChoice): Terminal {
  if (choice === 'auto') return terminal;
  const isColoured = usesColour(terminal.env, terminal.stdoutIsTerminal, choice);
  const colour: Terminal['colour'] = (style, text) => (isColoured ? styled(style, text) : text);
  return { ...terminal, colour };
}
