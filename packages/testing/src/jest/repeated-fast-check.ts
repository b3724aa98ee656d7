import fc from 'fast-check';

export * from 'fast-check';

const DEFAULT_RUNS = 100;
/** How many times as many random inputs each property gets. */
const times = Number(process.env['FUZZ_TIMES'] ?? 1);

type Assert = (property: unknown, parameters?: fc.Parameters) => unknown;

/** fast-check's `assert` with `FUZZ_TIMES` times as many random inputs. Examples, which are counted among them, come once. */
export const assert = ((property, parameters = {}) => {
  const { numRuns = DEFAULT_RUNS, examples = [] } = parameters;
  const random = Math.max(numRuns - examples.length, 0);
  return (fc.assert as Assert)(property, {
    ...parameters,
    numRuns: numRuns + random * (times - 1),
  });
}) as Assert as typeof fc.assert;

export default { ...fc, assert };
