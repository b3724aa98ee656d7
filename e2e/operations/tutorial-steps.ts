/** Commands of a page, and what they print. */
export interface Step {
  readonly commands: string;
  readonly output: string;
}

const BLOCK = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** The steps of a page: each block of `sh`, with the block of `text` after it. @throws if there is another block */
export function tutorialSteps(markdown: string): Step[] {
  const steps: { commands: string; output: string }[] = [];
  for (const [, language = '', text = ''] of markdown.matchAll(BLOCK)) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ commands: text, output: '' });
    else if (language === 'text' && last?.output === '') last.output = text;
    else throw new Error(`this block is not run: ${language} ${text}`);
  }
  return steps;
}

/**
 * Whether an output is as documented. `…` stands for any text within a line, and a line that is only `…` for any lines.
 * Columns may have another width.
 */
export function outputMatches(documented: string, actual: string): boolean {
  const pattern = linesOf(documented).map((line) =>
    line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n`,
  );
  const text = linesOf(actual).map((line) => `${line}\n`);
  return new RegExp(`^${pattern.join('')}$`).test(text.join(''));
}

/** The lines of a text, with one space between words. */
function linesOf(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().replaceAll(/ +/g, ' '));
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
