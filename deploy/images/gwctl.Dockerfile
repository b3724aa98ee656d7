# From the root of the repository: docker build -f deploy/images/gwctl.Dockerfile -t gateway/gwctl .
# deploy/images/main.ts makes the whole root file system; npm run images makes and runs the same one without Docker.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .npmrc ./
RUN npx --yes pnpm@10.34.9 fetch
COPY . .
RUN npm run build && node packages/cli/bundle/bundle.mjs
RUN node_modules/node-linux-*/bin/node deploy/images/main.ts root gwctl /image

FROM scratch
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gateway/gwctl" \
      org.opencontainers.image.description="gwctl: the management API of the gateway from a terminal" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /image/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin \
    NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/compile-cache \
    GATEWAY_IMAGE=gwctl \
    HOME=/app
USER 65532:65532
WORKDIR /app
ENTRYPOINT ["/usr/local/bin/node", "/app/main.mjs"]
