# The image of the relay. It runs `node dist/src/api/main.js` (the default) or `node dist/src/worker/main.js`.
# It is based on Debian, not Alpine, because Temporal's native worker needs glibc.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No dependency needs its install script.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY examples ./examples
COPY src ./src
# `npm start` is for a laptop, so the image does not contain it.
RUN npm run build && rm -r dist/src/sandbox dist/.tsbuildinfo* && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="relay" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.description="A rules engine for field work. A webhook sends a list of actions. The relay runs the actions durably on Temporal, and notifies people if an action fails."
ENV NODE_ENV=production
WORKDIR /app
# TLS connections to Temporal Cloud, platforms and mail servers need certificate authorities.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
ENV HOST=0.0.0.0
EXPOSE 8080
CMD ["node", "--enable-source-maps", "dist/src/api/main.js"]
