# From the root of the repository: docker build -f deploy/images/gwctl.Dockerfile -t gateway/gwctl .
# deploy/images/main.ts makes the whole root file system, that of the images of a release.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS build
WORKDIR /src
COPY . .
RUN npm run pack
RUN npm run images -- root gwctl /image

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
    GATEWAY_IMAGE=gwctl \
    HOME=/app
USER 65532:65532
WORKDIR /app
ENTRYPOINT ["/usr/local/bin/node", "/app/main.mjs"]
