// Changes what packages of others depend on, before pnpm resolves them.
module.exports = {
  hooks: {
    readPackage(manifest) {
      // Only its browser bundle is served, which contains all that it depends on.
      if (manifest.name === '@scalar/api-reference') manifest.dependencies = {};
      // Its peers are optional, and pnpm would take those of the tools for `npm start` too.
      if (manifest.name === 'vite') manifest.peerDependencies = manifest.peerDependenciesMeta = {};
      return manifest;
    },
  },
};
