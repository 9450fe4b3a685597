# The sandbox. `docker build -t debit-sandbox . && docker run --rm -p 127.0.0.1:3000:3000 debit-sandbox`
FROM node:24-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts && npm rebuild esbuild && npm run -s pack

FROM node:24-slim
COPY --from=build /build/dist/package /sandbox
RUN mkdir /data && chown node /data
USER node
VOLUME /data
EXPOSE 3000
# Arguments of `docker run` follow: --names sandbox --webhook-hosts shop,host.docker.internal
ENTRYPOINT ["node", "/sandbox/debit.mjs", "sandbox", "--host", "0.0.0.0", "--data", "/data"]
HEALTHCHECK --interval=2s --start-period=5s CMD ["node", "-e", "fetch('http://127.0.0.1:3000/openapi.json').then(({ ok }) => process.exit(ok ? 0 : 1))"]
