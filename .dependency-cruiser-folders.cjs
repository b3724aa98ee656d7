/**
 * The rule that no folder imports another in a circle. It has a configuration of its own because tests are
 * excluded: a test beside its subject imports what tests share, which imports the subject's folder.
 * A folder and a folder within it may import each other: the inner one is part of the outer one's subject.
 */
const { options } = require('./.dependency-cruiser.cjs');

module.exports = {
  forbidden: [
    {
      name: 'no-circle-of-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: `${options.exclude.path}|\\.test\\.ts$` } },
};
