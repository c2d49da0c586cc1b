# The agent client by name from the npm registry that npm is configured for, on top of the node image.
ARG BASE=sekisho/node
FROM ${BASE}
ARG VERSION=latest
RUN npm install --global --no-audit --no-fund "@anthropic-ai/claude-code@${VERSION}" \
    && rm -rf /root/.npm /tmp/*
LABEL dev.sekisho.variant=claude-code
