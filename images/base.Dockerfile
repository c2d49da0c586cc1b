# The same tools as `sekisho image build --variant base --from-packages`, from a public image.
ARG DEBIAN=debian:bookworm-slim
FROM ${DEBIAN}
COPY base.txt /tmp/lists/
# No setuid programs: nothing inside may become another user.
RUN apt-get update \
    && sed -e 's/#.*//' /tmp/lists/*.txt | xargs apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/* /tmp/lists \
    && find / -xdev -perm /6000 -type f -exec chmod a-s {} +
LABEL dev.sekisho.variant=base
