import { msText } from '@gateway/client/measures';
import { printable } from '../output/printable.ts';
import { EXIT, UsageError, type ExitCode } from '../program/exit-codes.ts';
import type { Terminal } from './terminal.ts';

const EVERY_MS = 2000;

/** How one run ended. */
interface RunEnd {
  readonly exitCode: ExitCode;
  /** When the same run may succeed; undefined: nobody says. */
  readonly retryAfterMs?: number;
}

/** A gateway that cannot be reached may come back; what is wrong with the command line does not mend itself. */
const PASSING: readonly ExitCode[] = [EXIT.done, EXIT.difference, EXIT.unreachable];

/**
 * Another screen, so that what was on the screen before is there again afterwards. Lines are cut there and not wrapped: one
 * that takes two lines of the screen would push the heading out of it.
 */
const ENTER = '\u001b[?1049h\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?1049l';
const HOME = '\u001b[H';
const ERASE_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';

/**
 * Repeats a command until ^C. What it prints replaces what it printed before; the last output stays.
 * @param title the command line
 * @param run runs the command once, on a terminal that keeps what it writes
 * @returns the exit code of ^C, or of the command if it failed for good
 * @throws UsageError if stdout is no terminal
 */
export async function watch(
  terminal: Terminal,
  title: string,
  run: (terminal: Terminal, interrupted: AbortSignal) => Promise<RunEnd>,
): Promise<ExitCode> {
  if (!terminal.stdoutIsTerminal) {
    throw new UsageError('--watch needs a terminal; in a script, run the command again');
  }
  const interrupted = terminal.interrupted();
  const isOver = () => interrupted.aborted;
  let last = { out: '', error: '', code: EXIT.interrupted as ExitCode };
  terminal.out(ENTER);
  try {
    while (!isOver()) {
      const ran = await runOnce(terminal, (one) => run(one, interrupted));
      if (isOver()) break;
      last = { ...ran, code: EXIT.interrupted };
      const { retryAfterMs } = ran;
      if (!PASSING.includes(ran.code) && retryAfterMs === undefined) {
        last = ran;
        break;
      }
      const head = `Every ${EVERY_MS / 1000} s: ${printable(title)}  ${timeText(terminal.nowMs())}`;
      const waitMs = Math.max(EVERY_MS, retryAfterMs ?? 0);
      const wait = waitMs > EVERY_MS ? [`Waiting ${msText(waitMs)}, as the gateway asks.`] : [];
      const shown = [...linesOf(ran.out), ...linesOf(ran.error), ...wait];
      terminal.out(frameText([terminal.colour('dim', head), '', ...shown], terminal.rows));
      // It rejects at ^C.
      await terminal.pause(waitMs, interrupted).catch(() => undefined);
    }
  } finally {
    terminal.out(LEAVE);
  }
  terminal.out(last.out);
  terminal.error(last.error);
  return last.code;
}

async function runOnce(terminal: Terminal, run: (terminal: Terminal) => Promise<RunEnd>) {
  const written = { out: '', error: '' };
  const { exitCode: code, retryAfterMs } = await run({
    ...terminal,
    // A spinner would be drawn over what is shown.
    stderrColumns: undefined,
    out: (text) => void (written.out += text),
    error: (text) => void (written.error += text),
  });
  return { ...written, code, retryAfterMs };
}

/** The lines, which replace those before. Those that the terminal has no room for are counted. */
function frameText(lines: readonly string[], rows: number): string {
  const hidden = lines.length - (rows - 1);
  const shown =
    hidden <= 0 ? lines : [...lines.slice(0, rows - 2), `… and ${hidden + 1} more lines`];
  return HOME + shown.map((line) => `${line}${ERASE_LINE}\n`).join('') + ERASE_BELOW;
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const timeText = (ms: number) => `${new Date(ms).toISOString().slice(11, 19)}Z`;
