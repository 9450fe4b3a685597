import { registerHooks } from 'node:module'
import { withSizes } from '../engine/sizes.ts'

/**
 * Replaces the network modules and the caches for product code only, and makes variables of its sizes.
 * Load it before any product module.
 */

const current = (file: string): string => new URL(file, import.meta.url).href

/** The replacement of a module, for importers whose path contains `inside`. */
const replacements: Record<string, { inside: string; file: string }> = {
  undici: { inside: '/shared/', file: current('./undici.ts') },
  'node:dns/promises': { inside: '/shared/webhooks/', file: current('./dns.ts') },
  'node:perf_hooks': { inside: '/shared/runtime.ts', file: current('./perf-hooks.ts') },
  'node:timers': { inside: '/shared/runtime.ts', file: current('./callback-timers.ts') },
  'node:timers/promises': { inside: '/shared/runtime.ts', file: current('./timers.ts') },
  'node:net': { inside: '/shared/webhooks/http/connection.ts', file: current('./net.ts') },
  './cache.ts': { inside: '/shared/store/', file: current('./cache.ts') },
  '../cache.ts': { inside: '/shared/store/', file: current('./cache.ts') },
  'node:tls': { inside: '/shared/webhooks/http/connection.ts', file: current('./tls.ts') },
}

const PRODUCT = new RegExp(`^${current('../../../')}((?:shared|functions)/.*)\\.ts$`)

registerHooks({
  resolve: (specifier, context, next) => {
    const replacement = replacements[specifier]
    return replacement && context.parentURL?.includes(replacement.inside)
      ? { url: replacement.file, shortCircuit: true }
      : next(specifier, context)
  },
  load: (url, context, next) => {
    const loaded = next(url, context)
    const [, file] = PRODUCT.exec(url) ?? []
    return file ? { ...loaded, source: withSizes(file, String(loaded.source)) } : loaded
  },
})
