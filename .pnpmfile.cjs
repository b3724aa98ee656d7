// Changes what packages of others depend on, before pnpm resolves them.
module.exports = {
  hooks: {
    readPackage(manifest) {
      // Its peers are optional, and pnpm would take those of the tools for `npm start` too.
      if (manifest.name === 'vite') manifest.peerDependencies = manifest.peerDependenciesMeta = {};
      return manifest;
    },
  },
};
