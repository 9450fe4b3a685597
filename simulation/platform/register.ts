import { registerHooks } from 'node:module'

/**
 * Puts the world in the place of the network, for the modules of the product alone: no socket is
 * opened, and no name is looked up. To be loaded before any of the product is.
 */

const current = (file: string): string => new URL(file, import.meta.url).href

/** What stands in for a module, where a file of this folder of the product asks for it. */
const instead: Record<string, { inside: string; file: string }> = {
  undici: { inside: '/shared/', file: current('./undici.ts') },
  'node:dns/promises': { inside: '/shared/webhooks/', file: current('./dns.ts') },
  'node:timers/promises': { inside: '/shared/runtime.ts', file: current('./timers.ts') },
  'node:net': { inside: '/shared/webhooks/http/connection.ts', file: current('./net.ts') },
  'node:tls': { inside: '/shared/webhooks/http/connection.ts', file: current('./tls.ts') },
}

registerHooks({
  resolve: (specifier, context, next) => {
    const found = instead[specifier]
    return found && context.parentURL?.includes(found.inside)
      ? { url: found.file, shortCircuit: true }
      : next(specifier, context)
  },
})
