import { registerHooks } from 'node:module'

/**
 * Puts the world in the place of the network, for the modules of the product alone: no socket is
 * opened, and no name is looked up. To be loaded before any of the product is.
 */

const here = (file: string): string => new URL(file, import.meta.url).href

/** What stands in for a module, where a file of this folder of the product asks for it. */
const instead: Record<string, { inside: string; file: string }> = {
  undici: { inside: '/shared/', file: here('./undici.ts') },
  'node:dns/promises': { inside: '/shared/webhooks/', file: here('./dns.ts') },
  'node:timers/promises': { inside: '/shared/runtime.ts', file: here('./timers.ts') },
  'node:net': { inside: '/shared/webhooks/http/connection.ts', file: here('./net.ts') },
  'node:tls': { inside: '/shared/webhooks/http/connection.ts', file: here('./tls.ts') },
}

registerHooks({
  resolve: (specifier, context, next) => {
    const found = instead[specifier]
    return found && context.parentURL?.includes(found.inside)
      ? { url: found.file, shortCircuit: true }
      : next(specifier, context)
  },
})
