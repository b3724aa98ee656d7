import { printable } from '../output/printable.ts';
import type { Terminal } from './terminal.ts';

/** Lines on stderr that show that something takes time. */
export interface Progress {
  /** Replaces the lines below the first one. */
  readonly show: (lines: readonly string[]) => void;
}

const DELAY_MS = 1000;
const FRAME_MS = 100;
const FRAMES = { unicode: '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', ascii: '|/-\\' };

/** The terminals that show progress now: a call within the work of a command shows none of its own. */
const busy = new WeakSet<Terminal>();

/**
 * Does some work, and shows a spinner on stderr if it takes more than a second and stderr is a terminal.
 * @param label says what is done
 */
export async function withProgress<Result>(
  terminal: Terminal,
  label: string,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  if (terminal.stderrColumns === undefined || busy.has(terminal)) {
    return work({ show: () => undefined });
  }
  busy.add(terminal);
  let below: readonly string[] = [];
  const finished = new AbortController();
  const drawn = drawUntil(finished.signal, terminal, () => [label, ...below]);
  try {
    return await work({ show: (lines) => void (below = lines) });
  } finally {
    finished.abort();
    await drawn;
    busy.delete(terminal);
  }
}

/** Draws the lines again and again until the signal aborts, and then erases them. */
async function drawUntil(
  signal: AbortSignal,
  terminal: Terminal,
  lines: () => readonly string[],
): Promise<void> {
  const frames = terminal.unicode ? FRAMES.unicode : FRAMES.ascii;
  let erase = '';
  try {
    await terminal.pause(DELAY_MS, signal);
    for (let frame = 0; ; frame = (frame + 1) % frames.length) {
      const [label = '', ...below] = lines();
      const shown = [`${frames[frame] ?? ''} ${label}`, ...below.map((line) => `  ${line}`)];
      terminal.error(erase + shown.map((line) => cut(line, terminal)).join('\n'));
      erase = eraseLines(shown.length);
      await terminal.pause(FRAME_MS, signal);
    }
  } catch {
    // The work is done.
    if (erase !== '') terminal.error(erase);
  }
}

/** A line that wraps would take two, and erasing would miss one. */
function cut(line: string, { stderrColumns = 0 }: Terminal): string {
  return printable(line).slice(0, stderrColumns - 1);
}

/** Erases so many lines, of which the last has no line break. */
function eraseLines(count: number): string {
  const up = count > 1 ? `\u001b[${count - 1}A` : '';
  return `\r${up}\u001b[J`;
}
