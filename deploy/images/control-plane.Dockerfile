# From the root of the repository: docker build -f deploy/images/control-plane.Dockerfile -t gateway/control-plane .
# deploy/images/main.ts makes the whole root file system, that of the images of a release.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS build
WORKDIR /src
COPY . .
RUN npm run build
RUN npm run images -- root control-plane /image

FROM scratch
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gateway/control-plane" \
      org.opencontainers.image.description="The control plane of the gateway: management API, publication of configurations, request records" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /image/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin \
    NODE_ENV=production \
    GATEWAY_IMAGE=control-plane
USER 65532:65532
WORKDIR /app
EXPOSE 8081 9081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/node", "/app/healthcheck.mjs"]
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=8", "/app/main.mjs"]
