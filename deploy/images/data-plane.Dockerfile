# From the root of the repository: docker build -f deploy/images/data-plane.Dockerfile -t gateway/data-plane .
# deploy/images/main.ts makes the whole root file system, that of the images of a release.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS build
WORKDIR /src
COPY . .
RUN npm run build
RUN npm run images -- root data-plane /image

FROM scratch
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gateway/data-plane" \
      org.opencontainers.image.description="A data plane of the gateway: serves the traffic of applications" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /image/ /
# The only folder that it writes to: the last-good configuration and the spool of request records. Keep it on a volume.
COPY --from=build --chown=65532:65532 /image/var/lib/gateway /var/lib/gateway
ENV PATH=/usr/local/bin:/usr/bin:/bin \
    NODE_ENV=production \
    GATEWAY_IMAGE=data-plane \
    DATA_PLANE_DATA_DIR=/var/lib/gateway
USER 65532:65532
WORKDIR /app
EXPOSE 8080 9090
VOLUME /var/lib/gateway
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/node", "/app/healthcheck.mjs"]
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--initial-old-space-size=64", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--expose-gc", "/app/main.mjs"]
