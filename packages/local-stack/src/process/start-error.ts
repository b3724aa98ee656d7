/** A start that cannot go on; the message is the one clear line that the operator reads. */
export class StartError extends Error {
  constructor(line: string, options?: ErrorOptions) {
    super(line, options);
    this.name = 'StartError';
  }
}
