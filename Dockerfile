# One image with every program; docker-compose.yml says which one a container runs.
# docker build --build-arg VERSION=$(git describe --tags --always) -t agent-coordinator .

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
# Static: no C library is needed where they run.
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false
RUN make build VERSION="$VERSION" && mkdir -p /out && cp -R bin /out/

FROM debian:12.12-slim
# git and bubblewrap are the gateway's (repositories, the sandbox of tier 0); curl asks the health checks.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap ca-certificates curl git \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 coord \
 && useradd --uid 10001 --gid coord --home-dir /var/lib/agent-coordinator --shell /usr/sbin/nologin coord \
 && install -d -o coord -g coord /var/lib/agent-coordinator /workspace
COPY --from=build /out/bin/ /opt/agent-coordinator/bin/
ENV PATH=/opt/agent-coordinator/bin:/usr/local/bin:/usr/bin:/bin \
    COORD_HOME=/var/lib/agent-coordinator
USER 10001:10001
WORKDIR /workspace
VOLUME ["/var/lib/agent-coordinator", "/workspace"]
EXPOSE 8765 8080
CMD ["api"]
