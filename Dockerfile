# The command `parlance` on Debian 12: docker build -t parlance . && docker run -i parlance render --help
#
# As a gateway: docker run -p 9000:9000 -v /models:/models parlance serve --host 0.0.0.0 --port 9000 -m /models/NAME --backend KIND=URL
#
# The first stage does what `make package` does on any Debian 12; the second installs the package, which names the libraries it
# needs. The steps are tested as commands (tests/packaging_test.py); the image itself is not built by the tests.
FROM debian:12-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make ca-certificates
WORKDIR /parlance
COPY . .
RUN make package

FROM debian:12-slim
COPY --from=build /parlance/build/install/packages/parlance_*.deb /tmp/
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/parlance_*.deb && \
    rm -rf /tmp/parlance_*.deb /var/lib/apt/lists/*
USER nobody
ENTRYPOINT ["parlance"]
