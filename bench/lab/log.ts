/** Prints a line of progress, beside the results on standard output. */
export function log(line: string): void {
  process.stderr.write(`${line}\n`);
}
