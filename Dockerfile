# Invariscope with everything that a dashboard, an audit or a node of a cluster needs; docs/cluster.md says how it is used.
FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 1000 invariscope
WORKDIR /opt/invariscope

# The packages first: they change less often than the code.
COPY requirements-lock.txt requirements-cluster.txt ./
RUN python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements-lock.txt \
    && python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements-cluster.txt

COPY --chown=invariscope . .
RUN python -m pip install --no-cache-dir --no-deps --no-build-isolation -e . \
    && install --directory --owner=invariscope /data /corpora

USER 1000
ENV INVARISCOPE_DATA=/data INVARISCOPE_FOLDERS=/corpora RAY_AUTH_MODE=token
# The demo corpus's pictures lie unpacked at one path on every node.
RUN python -m core corpora show demo
VOLUME ["/data"]
EXPOSE 8501 6379

CMD ["python", "-m", "core", "--help"]
