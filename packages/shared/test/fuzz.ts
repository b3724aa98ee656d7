import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The inputs of one run of a fuzzer. */
export interface Fuzz<T> {
  /** Inputs on which an earlier run failed, and others that must never be left out. They come first in every run. */
  readonly kept: readonly T[];
  /** Of the random inputs. */
  readonly seed: number;
  /** The number of random inputs. */
  readonly runs: number;
}

/**
 * The kept inputs from a JSON file, and a seed from the clock for others. `FUZZ_SEED` repeats a run, and `FUZZ_RUNS` makes a longer
 * one. The seed is printed. Add an input on which a fuzzer fails to its file.
 */
export function openFuzz<T>(keptFile: URL, defaultRuns: number): Fuzz<T> {
  const kept = JSON.parse(readFileSync(keptFile, 'utf8')) as readonly T[];
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
  const runs = Number(process.env['FUZZ_RUNS'] ?? defaultRuns);
  const name = path.basename(fileURLToPath(keptFile), '.kept.json');
  process.stdout.write(
    `${name}: ${kept.length} kept and ${runs} random inputs (FUZZ_SEED=${seed} FUZZ_RUNS=${runs})\n`,
  );
  return { kept, seed, runs };
}

/** The settings of fast-check for a property of one input. */
export function fuzzSettings<T>({ kept, seed, runs }: Fuzz<T>) {
  // fast-check counts the examples among the runs.
  return { seed, numRuns: kept.length + runs, examples: kept.map((input): [T] => [input]) };
}
